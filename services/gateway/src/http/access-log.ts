import { type Logger, type Metrics, readTraceparent } from '@kith/base';
import type { Address } from '../routes/address.ts';
import { type Exchange, type HttpRequest, type HttpResponse, logFieldsOf } from './exchange.ts';
import { knownMethod } from './known-method.ts';
import { requestIdOf } from './request-id.ts';

const longestPath = 256;

/**
 * Gives a request its id. When the answer is sent or the client has disconnected, writes one log line and measures the request.
 */
export function accessLog(options: { log: Logger; metrics: Metrics }) {
  const { log, metrics } = options;
  return (request: HttpRequest, response: HttpResponse, address: Address): void => {
    const started = performance.now();
    const { traceparent } = request.headers;
    const requestId = requestIdOf(request.headers['x-request-id']);
    const locals: Exchange = { requestId, address, headers: { 'X-Request-Id': requestId } };
    if (readTraceparent(traceparent)) locals.traceparent = traceparent as string;
    response.locals = locals;
    // The event `close` occurs only once, so `on` is enough. Unlike `once`, it needs no wrapper function that is made and
    // removed again.
    response.on('close', () => {
      const ms = performance.now() - started;
      const status = response.writableFinished ? response.statusCode : 'aborted';
      const { operation, code } = locals;
      const counted = { operation: operation ?? 'none', status: String(status) };
      metrics.httpSeconds.observe(counted, ms / 1000);
      metrics.httpRequests.inc({ ...counted, method: knownMethod(request.method) });
      if (operation && code === 'rate-limit/exceeded') metrics.limiterRefusals.inc({ operation });
      if (!log.isLevelEnabled('info')) return;
      // The path without the query, because a query may contain data that should not be in a log.
      const path = request.url.split('?', 1)[0]?.slice(0, longestPath);
      const line = { ...logFieldsOf(response), method: request.method, path, operation, status, code };
      log.info({ ...line, ms: Math.round(ms * 10) / 10 }, 'request');
    });
  };
}
