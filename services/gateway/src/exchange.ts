import type { ErrorCode } from '@kith/contracts';
import { traceFields } from '@kith/service';
import type { Request, Response } from 'express';

/** What is known of a request on its way; kept in the response's `locals`. */
export interface Exchange {
  requestId: string;
  /** Its place in a trace: of the gateway's own span, or else the client's. */
  traceparent?: string | undefined;
  /** The operation's name, once the route is known. */
  operation?: string;
  /** The error code that was answered. */
  code?: ErrorCode | string;
}

export type HttpRequest = Request<Record<string, never>, unknown, unknown, unknown, Exchange>;
export type HttpResponse = Response<unknown, Exchange>;

/** The fields of every log line about a request. */
export function logFieldsOf({ locals }: HttpResponse): {
  requestId: string;
  trace_id?: string;
  span_id?: string;
} {
  return { requestId: locals.requestId, ...traceFields(locals.traceparent) };
}
