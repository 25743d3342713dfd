import type { Logger, Metrics } from '@kith/service';
import cors from 'cors';
import express, { type Express, type NextFunction } from 'express';
import helmet from 'helmet';
import { accessLog } from './access-log.ts';
import { answerError } from './errors.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import { createHandle, type HandleParts } from './handle.ts';
import { httpRules } from './http-rules.ts';

/** What a page of another origin may read of an answer (SPEC A7). */
const exposedHeaders = [
  'Link',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];
const preflightSeconds = 7200;

/** Puts the middlewares in order: id and log, headers for browsers, HTTP's own rules, the API, the error funnel. */
export function createApp(
  options: HandleParts & { log: Logger; metrics: Metrics; trustProxyHops: number; corsOrigins: string[] },
): Express {
  const { log, corsOrigins } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('trust proxy', options.trustProxyHops);

  app.use(accessLog(options));
  app.use(
    helmet({
      // An API's answers are never a page.
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      },
      // Pages of other origins are who calls; CORS decides which.
      crossOriginResourcePolicy: { policy: 'cross-origin' },
    }),
  );
  app.use(
    cors({
      origin: corsOrigins.includes('*') ? '*' : corsOrigins,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders,
      maxAge: preflightSeconds,
      preflightContinue: true,
    }),
  );
  app.use(httpRules);
  app.use(createHandle(options));
  app.use((error: unknown, request: HttpRequest, response: HttpResponse, _next: NextFunction) => {
    answerError(request, response, error, log);
  });
  return app;
}
