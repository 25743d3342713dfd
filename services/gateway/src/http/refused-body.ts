import type { IncomingMessage } from 'node:http';
import type { ApiError } from '@kith/base';

/** The errors of requests whose bodies are late or malformed. */
const refused = new WeakMap<IncomingMessage, ApiError>();
/** For each request: the function to call if the request's body is refused. */
const readers = new WeakMap<IncomingMessage, (error: ApiError) => void>();

/**
 * Refuses the body of a request, and thereby the request. The reader of the body gets the error instead of the body, even if
 * the rest of the body still arrives. So a request that is answered with 408 is never carried out.
 */
export function refuseBody(request: IncomingMessage, error: ApiError): void {
  refused.set(request, error);
  readers.get(request)?.(error);
}

/** The error of a request whose body is refused. */
export function refusalOf(request: IncomingMessage): ApiError | undefined {
  return refused.get(request);
}

/** Throws the error if the body is already refused. */
export function checkRefused(request: IncomingMessage): void {
  const error = refused.get(request);
  if (error) throw error;
}

/** Calls `tell` if the body is refused later. */
export function onRefused(request: IncomingMessage, tell: (error: ApiError) => void): void {
  readers.set(request, tell);
}
