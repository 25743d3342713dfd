import type { Tracing } from '@kith/base';
import { operations } from '@kith/contracts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import { knownMethod } from './known-method.ts';

const routes = new Map<string, string>(operations.map(({ name, path }) => [name, path]));

/**
 * Makes a span for each request, for example `GET /connections`. The span continues the client's trace. The span names the
 * route instead of the path, because a path contains people's ids. The span also leaves out the query, because a query may
 * contain data that should not be in a trace.
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
      // If the client disconnected before the end of the answer, the span gets no status.
      if (!response.writableFinished) return span.end();
      const { statusCode } = response;
      span.set({ 'http.response.status_code': statusCode });
      span.end(statusCode >= 500 ? (code ?? String(statusCode)) : undefined);
    });
    span.run(next);
  };
}
