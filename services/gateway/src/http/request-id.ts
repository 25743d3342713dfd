import { randomUUID } from 'node:crypto';

const safe = /^[A-Za-z0-9._-]{1,64}$/;

/** Returns the client's own request id if it is short and safe to log and to send back. If it is not, returns a new id. */
export function requestIdOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && safe.test(header) ? header : randomUUID();
}
