import { ApiError, type Bus } from '@kith/service';
import { readAddress } from './address.ts';
import { answerReply, writeAnswer } from './answer.ts';
import { readBody } from './body.ts';
import type { Callers } from './caller.ts';
import type { Clients } from './client-ip.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { narrowOrigins } from './cors.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import type { Exports } from './exports.ts';
import { forward } from './forward.ts';
import type { ProjectSettings } from './project-settings.ts';
import type { RateLimits } from './rate-limit.ts';
import type { RouteTable } from './routes.ts';
import { claimedProject, type Scope, scopeOf, shortFormRefusal } from './short-form.ts';
import type { Streams } from './streams.ts';
import { callerFor } from './visibility.ts';

export interface HandleParts {
  routes: RouteTable;
  clients: Clients;
  limits: RateLimits;
  callers: Callers;
  projects: ProjectSettings;
  streams: Streams;
  exports: Exports;
  bus: Bus;
  requestTimeoutMs: number;
}

/**
 * The order of checks (spec#errors-check-order): route, limit, token, body, then the service. The request id is given
 * before. What its services are known to have no room for is not checked at all (docs/adr/0036).
 */
export function createHandle(parts: HandleParts) {
  const { routes, clients, limits, callers, projects, streams, exports, bus, requestTimeoutMs } = parts;
  const room = new Map<string, ConcurrencyLimit>();
  const roomOf = (operation: string) => {
    const found = room.get(operation) ?? new ConcurrencyLimit();
    room.set(operation, found);
    return found;
  };
  return async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const { requestId, traceparent } = response.locals;
    const isPreflight = request.headers['access-control-request-method'] !== undefined;

    const address = response.locals.address ?? readAddress(routes, request.method, request.url);
    if (request.method === 'OPTIONS' && (isPreflight || address.kind === 'options')) {
      // A preflight is answered for any address, so that a page can read the 404 that its request then gets.
      const headers: Record<string, string> = address.kind === 'options' ? { Allow: address.allow } : {};
      return writeAnswer(request, response, { status: 204, headers, body: new Uint8Array() });
    }
    if (address.kind === 'error') {
      if (address.code === 'route/method-not-allowed') response.locals.headers.Allow = address.allow;
      throw new ApiError(address.code);
    }
    if (address.kind === 'options') throw new ApiError('route/not-found');
    response.locals.operation = address.operation.name;

    const limit = roomOf(address.operation.name);
    if (!limit.admits()) throw new ApiError('gateway/unavailable');

    const { ip: clientIp, key: clientKey } = clients.of(request);
    const { operation, projectId: named } = address;
    const { authorization } = request.headers;
    const counted = address.isShort ? claimedProject(address, authorization) : named;
    await limits.count(response.locals.headers, { operation, projectId: counted, clientKey });

    const identify = () => callers.identify(authorization, address);
    let scope: Scope;
    try {
      // Most requests need no more than this; what the others wait for costs only them.
      scope = { projectId: named, caller: await identify() };
      if (address.isShort) {
        const deadline = Date.now() + requestTimeoutMs;
        scope = await scopeOf(bus, address, scope.caller, { requestId, deadline, traceparent });
        narrowOrigins(request, response, projects.of(scope.projectId).webOrigins);
      }
      if (operation.visibility) {
        const { projectId } = scope;
        scope = { projectId, caller: await callerFor(address, scope, { callers, projects, authorization }) };
      }
    } catch (error) {
      throw shortFormRefusal(address, error);
    }
    const { projectId, caller } = scope;

    const body = await readBody(request, response);

    if (operation.kind === 'stream') {
      return streams.open(request, response, { projectId, caller, identify });
    }

    const { 'user-agent': userAgent } = request.headers;
    const forwarded = { address, requestId, projectId, caller, clientIp, userAgent, traceparent, body };
    const reply = await forward(bus, forwarded, { timeoutMs: requestTimeoutMs, limit });

    if (operation.kind === 'export') {
      return exports.answer(request, response, { operation, reply, projectId, caller, identify });
    }
    answerReply(request, response, reply);
  };
}
