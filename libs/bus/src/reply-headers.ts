/** The HTTP status of a reply. */
export const statusHeader = 'Kith-Status';
/** Present on error replies, so that errors can be counted without parsing bodies. */
export const codeHeader = 'Kith-Code';
/** Present on the reply to a request that the service refused because it was too busy (docs/adr/0036). */
export const shedHeader = 'Kith-Shed';
/**
 * The first key of the reply's body, if its value is a list that the gateway has to repeat under `data`
 * (spec#short-forms-lists). The service sends only one copy of the list, because a message with both copies could be larger
 * than `maxPayload`.
 */
export const repeatHeader = 'Kith-Repeat';

/**
 * Present if the reply repeats the answer to an earlier request with the same `Idempotency-Key`. This header is passed on to
 * the client (spec#idempotency-replay).
 */
export const replayedHeader = 'Idempotency-Replayed';
