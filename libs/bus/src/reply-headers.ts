/** The HTTP status of a reply. */
export const statusHeader = 'Kith-Status';
/** Present on error replies, so that errors can be counted without parsing bodies. */
export const codeHeader = 'Kith-Code';
/** Present on the reply to a request that the service refused because it was too busy (docs/adr/0036). */
export const shedHeader = 'Kith-Shed';
/**
 * Names the first key of a list in the reply. The gateway repeats the items under this key as `data` (spec#short-forms-lists).
 * The service does not send both copies of the list, because the message could then be larger than `maxPayload`.
 */
export const repeatHeader = 'Kith-Repeat';

/**
 * Present if the reply repeats an earlier answer to the same key. This header is passed on to the client
 * (spec#idempotency-replay).
 */
export const replayedHeader = 'Idempotency-Replayed';
