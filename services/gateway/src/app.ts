import { tracing } from '@kith/service';
import express, { type Express, type NextFunction, type RequestHandler } from 'express';
import { projectIn } from './address.ts';
import type { Exchange, HttpRequest, HttpResponse } from './exchange.ts';
import { serveReference } from './reference/serve.ts';
import type { Steps } from './steps.ts';
import { traceRequests } from './trace-requests.ts';

/** An Express middleware over our own exchange. */
export type Middleware = RequestHandler<Record<string, never>, unknown, unknown, unknown, Exchange>;

/**
 * Puts the steps in order as middlewares: id, log and trace, headers for browsers, HTTP's own rules, the reference, the
 * API, the error funnel. Takes any request; those of operations usually go past it (`direct.ts`).
 */
export function createApp(steps: Steps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);

  app.use(sync(steps.begin));
  const traces = tracing();
  if (traces) app.use(traceRequests(traces) as Middleware);
  app.use(sync((_request, response) => steps.secure(response)));
  app.use(allowOrigins(steps));
  app.use(sync(steps.check));
  app.use(serveReference());
  app.use(steps.handle as Middleware);
  app.use((error: unknown, request: HttpRequest, response: HttpResponse, _next: NextFunction) => {
    steps.fail(request, response, error);
  });
  return app;
}

function sync(step: (request: HttpRequest, response: HttpResponse) => void): Middleware {
  return (request, response, next) => {
    step(request, response);
    next();
  };
}

function allowOrigins({ origins }: Steps): Middleware {
  return (request, response, next) => {
    if (request.method === 'OPTIONS') return origins.preflight(request, response, next);
    origins.allow(request, response, projectIn(request.url));
    next();
  };
}
