import { ApiError } from '@kith/base';
import express, { type NextFunction } from 'express';
import type { HttpRequest, HttpResponse } from './http/exchange.ts';
import type { Middleware } from './http/middleware.ts';
import type { ReferencePart } from './reference/files.ts';
import { serveFront } from './reference/front.ts';
import { type SecurityContact, serveSecurityContact } from './reference/security-contact.ts';
import { serveReference } from './reference/serve.ts';

/** Pages and files that the gateway shows to everybody, in addition to the API. */
export interface Shown {
  /** Whether the gateway answers at `/` and says where the reference is. It does this only in development. */
  hasFront: boolean;
  reference: ReferencePart;
  security: SecurityContact;
}

/**
 * The type of an Express app that is called as a middleware. Express's own types lack this call. The app calls `next` if none
 * of its steps has answered.
 */
type Serve = (request: HttpRequest, response: HttpResponse, next: (error?: unknown) => void) => void;

export interface AppParts {
  /** Answers a request to an address of the API. */
  handle(request: HttpRequest, response: HttpResponse): Promise<void>;
  /** Sends the answer for an error that a step has thrown. */
  fail(request: HttpRequest, response: HttpResponse, error: unknown): void;
  shown: Shown;
}

/**
 * Makes the app that answers requests whose address names no operation. It looks first for one of the server's own pages.
 * `handle` answers the other requests, for example preflights, and `fail` answers errors.
 */
export function createApp({
  handle,
  fail,
  shown,
}: AppParts): (request: HttpRequest, response: HttpResponse) => void {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);

  if (shown.hasFront) app.use(serveFront());
  app.use(serveReference(shown.reference));
  if (shown.security.contacts.length > 0) app.use(serveSecurityContact(shown.security));
  app.use(handle as Middleware);
  app.use((error: unknown, request: HttpRequest, response: HttpResponse, _next: NextFunction) => {
    fail(request, response, error);
  });
  // A target without a path, such as `x://host`, reaches none of the steps above. So `fail` answers it.
  const serve = app as unknown as Serve;
  return (request, response) =>
    serve(request, response, (error) => fail(request, response, error ?? new ApiError('route/not-found')));
}
