import type { IncomingMessage, ServerResponse } from 'node:http';
import { traceFields } from '@kith/base';
import type { ErrorCode } from '@kith/contracts';
import type { Address } from '../routes/address.ts';

/** The data of a request while it is handled, in the response's `locals`. */
export interface Exchange {
  requestId: string;
  /** The answer's headers so far, which are written with its status. */
  headers: Record<string, string>;
  /**
   * The request's place in a trace, as in the header `traceparent`: the gateway's own span or, if there is none, the client's
   * span.
   */
  traceparent?: string | undefined;
  /** The meaning of the request's method and address. */
  address: Address;
  /** The operation's name, once the route is known. */
  operation?: string;
  /** The error code of the answer. */
  code?: ErrorCode | string;
}

/** A request of a client, as Node's server has read it. */
export type HttpRequest = IncomingMessage & { method: string; url: string };
/** The answer to a request. Its headers are set in `locals`, never one by one on the response. */
export type HttpResponse = ServerResponse & { locals: Exchange };

/** The fields of every log line about a request. */
export function logFieldsOf({ locals }: HttpResponse): {
  requestId: string;
  trace_id?: string;
  span_id?: string;
} {
  return { requestId: locals.requestId, ...traceFields(locals.traceparent) };
}

/** Adds a header's name to `Vary`, because the answer depends on this header of the request. */
export function vary(response: HttpResponse, name: string): void {
  const { headers } = response.locals;
  // For a preflight, the cors library sets `Vary` on the response itself. So the header may be in either of two places.
  const before = headers.Vary ?? response.getHeader('Vary');
  headers.Vary = before === undefined ? name : `${before}, ${name}`;
}
