/** The HTTP status of a reply. */
export const statusHeader = 'Kith-Status';
/** Present on error replies, so that nobody has to parse a body to count errors. */
export const codeHeader = 'Kith-Code';
/** Present on a service's reply if it turns a request away because it has enough to do (docs/adr/0036). */
export const shedHeader = 'Kith-Shed';

/** Present if the same answer was given before. This header reaches the client (spec#idempotency-replay). */
export const replayedHeader = 'Idempotency-Replayed';
