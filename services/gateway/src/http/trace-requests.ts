import type { Tracing } from '@kith/base';
import { operations } from '@kith/contracts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import { knownMethod } from './known-method.ts';

const routes = new Map<string, string>(operations.map(({ name, path }) => [name, path]));

/**
 * Makes a span of each request, for example `GET /connections`, which continues the client's trace. It names the route instead
 * of the path, which contains people's ids, and leaves out the query, which may contain what should not be in a trace.
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
      // A client that went away before the end got no status.
      if (!response.writableFinished) return span.end();
      const { statusCode } = response;
      span.set({ 'http.response.status_code': statusCode });
      span.end(statusCode >= 500 ? (code ?? String(statusCode)) : undefined);
    });
    span.run(next);
  };
}
