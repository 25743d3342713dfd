import type { IncomingMessage, ServerResponse } from 'node:http';
import { tracing } from '@kith/service';
import { readAddress } from './address.ts';
import { createApp } from './app.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import type { RouteTable } from './routes.ts';
import type { Steps } from './steps.ts';

/**
 * Takes requests in. Those of operations go through the steps directly, in the order of `app.ts`; whatever else comes
 * (preflights, the reference, addresses of nothing) goes through Express, and so does everything while requests are
 * traced. Measured in process, without bus and limiter (bench/README.md): 30 µs of CPU time a request through Express,
 * half of that past it.
 */
export function createEntry(
  steps: Steps,
  routes: RouteTable,
): (request: IncomingMessage, response: ServerResponse) => void {
  const app = createApp(steps);
  if (tracing()) return app;
  return (incoming, outgoing) => {
    const request = incoming as HttpRequest;
    const address = readAddress(routes, request.method, request.url);
    if (address.kind !== 'operation') return app(incoming, outgoing);
    const response = outgoing as HttpResponse;
    steps.begin(request, response);
    response.locals.address = address;
    try {
      steps.secure(response);
      steps.origins.allow(request, response, address.projectId);
      steps.check(request);
    } catch (error) {
      return steps.fail(request, response, error);
    }
    steps.handle(request, response).catch((error) => steps.fail(request, response, error));
  };
}
