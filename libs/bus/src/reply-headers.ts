/** The HTTP status of a reply. */
export const statusHeader = 'Kith-Status';
/** Present on error replies, so that nobody has to parse a body to count errors. */
export const codeHeader = 'Kith-Code';
/** Present on a reply if the service was too busy and refused the request (docs/adr/0036). */
export const shedHeader = 'Kith-Shed';
/**
 * Names the first key of a list in the reply. The gateway repeats the items under this key as `data` (spec#short-forms-lists). A
 * long list comes only once in the reply, because a message may hold no more than `maxPayload`.
 */
export const repeatHeader = 'Kith-Repeat';

/** Present if the same answer was given before. This header reaches the client (spec#idempotency-replay). */
export const replayedHeader = 'Idempotency-Replayed';
