/** The HTTP status of a reply. */
export const statusHeader = 'Kith-Status';
/** Present on error replies, so that nobody has to parse a body to count errors. */
export const codeHeader = 'Kith-Code';
/** Present on a reply if the service was too busy and refused the request (docs/adr/0036). */
export const shedHeader = 'Kith-Shed';

/** Present if the same answer was given before. This header reaches the client (spec#idempotency-replay). */
export const replayedHeader = 'Idempotency-Replayed';
