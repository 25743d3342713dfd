import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Logger, type Metrics, tracing } from '@kith/base';
import { createApp, type Shown } from './app.ts';
import { createHandle, type HandleParts } from './handle.ts';
import { accessLog } from './http/access-log.ts';
import { AllowedOrigins } from './http/cors.ts';
import { answerError } from './http/errors.ts';
import type { HttpRequest, HttpResponse } from './http/exchange.ts';
import { checkHttpRules } from './http/http-rules.ts';
import { secure } from './http/security-headers.ts';
import { traceRequests } from './http/trace-requests.ts';
import { type Address, isAdmin, projectIn, readAddress } from './routes/address.ts';
import type { RouteTable } from './routes/routes.ts';

/**
 * Which addresses a port answers: all, only the operators' addresses, or all except the operators' addresses
 * (spec#operators-port).
 */
export type Serves = 'all' | 'admin' | 'others';

export type EntryParts = HandleParts & {
  serves: Serves;
  routes: RouteTable;
  log: Logger;
  metrics: Metrics;
  corsOrigins: readonly string[];
  shown: Shown;
};

/** The result for an address that only the other port answers. On this port, the address does not exist. */
const elsewhere: Address = { kind: 'error', code: 'route/not-found' };

/**
 * Receives requests. Every request goes through these steps, in this order: its id and log line, its span if requests are
 * traced, the headers for browsers, HTTP's own rules. No other code lists these steps. After them, a request for an operation
 * is answered directly. All other requests go through Express: the reference, preflights, unknown addresses. Express costs 12
 * µs of CPU time per request, measured within one process, without bus and limiter (docs/adr/0023).
 */
export function createEntry(
  parts: EntryParts,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const { routes, log, corsOrigins, projects, shown, serves } = parts;
  const traces = tracing();
  const begin = accessLog(parts);
  const trace = traces && traceRequests(traces);
  const origins = new AllowedOrigins({ origins: corsOrigins, projects });
  const handle = createHandle(parts);
  const fail = (request: HttpRequest, response: HttpResponse, error: unknown) =>
    answerError(request, response, error, log);
  const app = createApp({ handle, fail, shown });
  const isServed = (url: string) => serves === 'all' || isAdmin(url) === (serves === 'admin');

  const take = (request: HttpRequest, response: HttpResponse): void => {
    const { address } = response.locals;
    const isOperation = address.kind === 'operation';
    const answer = () => {
      checkHttpRules(request);
      if (!isOperation && isServed(request.url)) return app(request, response);
      handle(request, response).catch((error) => fail(request, response, error));
    };
    try {
      secure(response);
      if (request.method === 'OPTIONS') {
        origins.preflight(request, response, answer);
        return;
      }
      const at = isOperation
        ? { projectId: address.projectId, isAdmin: address.operation.auth === 'operator' }
        : { projectId: projectIn(request.url), isAdmin: isAdmin(request.url) };
      origins.allow(request, response, at);
      answer();
    } catch (error) {
      fail(request, response, error);
    }
  };
  return (incoming, outgoing) => {
    const request = incoming as HttpRequest;
    const response = outgoing as HttpResponse;
    const { method, url } = request;
    begin(request, response, isServed(url) ? readAddress(routes, method, url) : elsewhere);
    if (trace) trace(request, response, () => take(request, response));
    else take(request, response);
  };
}
