import type { Tracing } from '@kith/base';
import { operations } from '@kith/contracts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import { knownMethod } from './known-method.ts';

const routes = new Map<string, string>(operations.map(({ name, path }) => [name, path]));

/**
 * Makes a span of each request, `GET /connections`, which goes on with the client's trace. Its route stands for its
 * path, which holds people's ids, and its query is left out: it may hold what a trace should not.
 */
export function traceRequests(traces: Tracing) {
  return (request: HttpRequest, response: HttpResponse, next: () => void): void => {
    const { locals } = response;
    const method = knownMethod(request.method);
    const span = traces.start(method, {
      kind: 'server',
      parent: locals.traceparent ?? null,
      attributes: {
        'http.request.method': method,
        'url.scheme': 'http',
        'kith.request_id': locals.requestId,
      },
    });
    locals.traceparent = span.traceparent;
    response.once('close', () => {
      const { operation, code } = locals;
      const route = operation && routes.get(operation);
      if (route) {
        span.rename(`${method} ${route}`);
        span.set({ 'http.route': route, 'kith.operation': operation });
      }
      // A client that has gone before got no status.
      if (!response.writableFinished) return span.end();
      const { statusCode } = response;
      span.set({ 'http.response.status_code': statusCode });
      span.end(statusCode >= 500 ? (code ?? String(statusCode)) : undefined);
    });
    span.run(next);
  };
}
