import express, { type Express, type NextFunction } from 'express';
import type { HttpRequest, HttpResponse } from './http/exchange.ts';
import type { Middleware } from './http/middleware.ts';
import { serveFront } from './reference/front.ts';
import { serveReference } from './reference/serve.ts';

export interface AppParts {
  /** Answers an address of the API. */
  handle(request: HttpRequest, response: HttpResponse): Promise<void>;
  /** Answers what any step has thrown. */
  fail(request: HttpRequest, response: HttpResponse, error: unknown): void;
  hasFront: boolean;
}

/** Answers what is no operation: the reference first, then what the API says to the rest, then the error funnel. */
export function createApp({ handle, fail, hasFront }: AppParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);

  if (hasFront) app.use(serveFront());
  app.use(serveReference());
  app.use(handle as Middleware);
  app.use((error: unknown, request: HttpRequest, response: HttpResponse, _next: NextFunction) => {
    fail(request, response, error);
  });
  return app;
}
