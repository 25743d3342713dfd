import { type ErrorBody, problemOf } from '@kith/contracts';
import { wantsProblem } from './accept.ts';
import { type HttpRequest, type HttpResponse, vary } from './exchange.ts';

/**
 * An error in the form that the client wants: the envelope (spec#errors-envelope), or a problem with the same content (RFC
 * 9457, docs/adr/0015).
 */
export function errorAnswer(
  request: HttpRequest,
  response: HttpResponse,
  error: { status: number; headers: Record<string, string>; body: ErrorBody },
): { status: number; headers: Record<string, string>; body: Uint8Array } {
  const { status, headers, body } = error;
  vary(response, 'Accept');
  const isProblem = wantsProblem(request.headers.accept);
  const type = isProblem ? 'application/problem+json' : 'application/json';
  return {
    status,
    headers: { ...headers, 'Content-Type': type },
    body: bytesOf(isProblem ? problemOf(body, status) : body),
  };
}

/** The bytes of an error body. */
export function bytesOf(body: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(body));
}
