import type { ErrorCode } from '@kith/contracts';
import type { Request, Response } from 'express';

/** What is known of a request on its way; kept in the response's `locals`. */
export interface Exchange {
  requestId: string;
  /** The operation's name, once the route is known. */
  operation?: string;
  /** The error code that was answered. */
  code?: ErrorCode | string;
}

export type HttpRequest = Request<Record<string, never>, unknown, unknown, unknown, Exchange>;
export type HttpResponse = Response<unknown, Exchange>;
