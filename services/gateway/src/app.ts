import { type Logger, type Metrics, tracing } from '@kith/service';
import express, { type Express, type NextFunction } from 'express';
import helmet from 'helmet';
import { accessLog } from './access-log.ts';
import { allowOrigins } from './cors.ts';
import { answerError } from './errors.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import { createHandle, type HandleParts } from './handle.ts';
import { httpRules } from './http-rules.ts';
import { serveReference } from './reference/serve.ts';
import { traceRequests } from './trace-requests.ts';

/**
 * Puts the middlewares in order: id, log and trace, headers for browsers, HTTP's own rules, the reference, the API, the error
 * funnel.
 */
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
  const traces = tracing();
  if (traces) app.use(traceRequests(traces));
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
  app.use(allowOrigins({ origins: corsOrigins, projects: options.projects }));
  app.use(httpRules);
  app.use(serveReference());
  app.use(createHandle(options));
  app.use((error: unknown, request: HttpRequest, response: HttpResponse, _next: NextFunction) => {
    answerError(request, response, error, log);
  });
  return app;
}
