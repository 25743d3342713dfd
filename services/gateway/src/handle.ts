import { ApiError } from '@kith/base';
import type { Bus } from '@kith/bus';
import { isStreamed, type OperationSpec, statusOf } from '@kith/contracts';
import type { OperatorCaller, ServerKeyCaller } from '@kith/service';
import type { Callers, ScopedCaller } from './auth/caller.ts';
import type { ServerKeys } from './auth/server-keys.ts';
import { claimedProject, type Scope, scopeOf, shortFormRefusal } from './auth/short-form.ts';
import { callerFor } from './auth/visibility.ts';
import type { Exports } from './exports/exports.ts';
import { ConcurrencyLimit } from './forward/concurrency-limit.ts';
import { contextOf, forward } from './forward/forward.ts';
import { forwardList } from './forward/forward-list.ts';
import { listRowOf } from './forward/list-operations.ts';
import { repeatItems } from './forward/repeat-items.ts';
import { answerReply, writeAnswer } from './http/answer.ts';
import { readBody } from './http/body.ts';
import { narrowOrigins } from './http/cors.ts';
import type { HttpRequest, HttpResponse } from './http/exchange.ts';
import { takesItsTime } from './http/http-server.ts';
import { idempotencyKeyOf } from './http/idempotency-key.ts';
import { checkRefused } from './http/refused-body.ts';
import { hasItsTurn } from './http/turn.ts';
import type { Clients } from './limits/client-ip.ts';
import type { RateLimits } from './limits/rate-limit.ts';
import type { Streams } from './streams/streams.ts';
import type { ProjectSettings } from './tables/project-settings.ts';
import type { Upstreams } from './upstreams/upstreams.ts';

export interface HandleParts {
  clients: Clients;
  limits: RateLimits;
  callers: Callers;
  serverKeys: ServerKeys;
  projects: ProjectSettings;
  streams: Streams;
  exports: Exports;
  upstreams: Upstreams;
  bus: Bus;
  requestTimeoutMs: number;
}

/**
 * The kinds of operations whose answers may be long. Such an answer begins only when the earlier answers on the connection have
 * ended.
 */
const long: ReadonlySet<OperationSpec['kind']> = new Set(['download', 'stream', 'export'] as const);

/**
 * The order of checks (spec#errors-check-order): route, limit, token, body, then the service. The request id is set before all
 * checks. If the operation has reached its concurrency limit, the gateway checks only the route and then refuses the request
 * (docs/adr/0036).
 */
export function createHandle(parts: HandleParts) {
  const {
    clients,
    limits,
    callers,
    serverKeys,
    projects,
    streams,
    exports,
    upstreams,
    bus,
    requestTimeoutMs,
  } = parts;
  const room = new Map<string, ConcurrencyLimit>();
  const roomOf = (operation: string) => {
    const found = room.get(operation) ?? new ConcurrencyLimit();
    room.set(operation, found);
    return found;
  };
  return async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const { requestId, traceparent } = response.locals;
    const isPreflight = request.headers['access-control-request-method'] !== undefined;

    const { address } = response.locals;
    if (request.method === 'OPTIONS' && (isPreflight || address.kind === 'options')) {
      // A preflight gets an answer at any address. So a page can send its actual request, and learns from the 404 that the
      // address is unknown.
      const headers: Record<string, string> = address.kind === 'options' ? { Allow: address.allow } : {};
      return writeAnswer(request, response, { status: 204, headers, body: new Uint8Array() });
    }
    if (address.kind === 'error') {
      if (address.code === 'route/method-not-allowed') response.locals.headers.Allow = address.allow;
      throw new ApiError(address.code);
    }
    if (address.kind === 'options') throw new ApiError('route/not-found');
    response.locals.operation = address.operation.name;
    if (address.operation.kind === 'upload') takesItsTime(request);

    const limit = roomOf(address.operation.name);
    if (!limit.admits()) throw new ApiError('gateway/unavailable');

    const { ip: clientIp, key: clientKey } = clients.of(request);
    const { operation, projectId: named } = address;
    const { authorization } = request.headers;
    const counted = address.isShort ? claimedProject(address, authorization) : named;
    const sentKey = serverKeys.sent(authorization, operation);
    const serverKeyId = sentKey && serverKeys.idOf(sentKey, named);
    await limits.count(response.locals.headers, { operation, projectId: counted, clientKey, serverKeyId });

    const isAdmin = operation.auth === 'operator';
    const administered = isAdmin ? address.params.projectId?.toLowerCase() : undefined;
    let operator: OperatorCaller | undefined;
    const identifyOperator = async () => {
      operator = await callers.operator(authorization, address).catch(async (error: unknown) => {
        if (isUnauthorized(error)) await limits.countOperatorFailure(response.locals.headers, clientKey);
        throw error;
      });
      return null;
    };
    let serverKey: ServerKeyCaller | undefined;
    // A stream checks its request every second. Identity is asked less often about the user that a server key acts for, because
    // each question is a request.
    let actingUser: { user: ScopedCaller; at: number } | undefined;
    const identifyUser = async (userMs: number) => {
      // If a request has two `On-Behalf-Of` lines, Node joins them into one text. That text is not the id of a user. So a
      // request with a server key and two such lines is refused.
      const onBehalfOf = request.headers['on-behalf-of'] as string | undefined;
      if (sentKey !== undefined) {
        const at = performance.now();
        const reused = actingUser && at - actingUser.at < userMs ? actingUser.user : undefined;
        const by = await serverKeys.identify(sentKey, address, {
          onBehalfOf,
          reused,
          requestId,
          traceparent,
        });
        if (by.caller && !reused) actingUser = { user: by.caller, at };
        serverKey = by.serverKey;
        return by.caller;
      }
      const caller = await callers.identify(authorization, address);
      if (caller && onBehalfOf !== undefined) {
        const message = 'Only a server key may act for another user: leave On-Behalf-Of out.';
        throw new ApiError('auth/forbidden', { message });
      }
      return caller;
    };
    const identify = async (userMs = 0) => {
      // Before the settings of projects are loaded, the gateway knows neither which projects are deleted nor what they hide. So
      // a read that may need no token waits here until they are loaded.
      if (operation.visibility && !projects.isLoaded) await projects.loaded();
      // For a short form, the gateway first checks whether the project that the token claims is deleted, and then checks the
      // token. When a project's users are erased, their tokens are revoked. If the token were checked first, the answer would
      // say that the token is revoked, not that the project is gone.
      projects.checkThere(counted, operation);
      const caller = await (isAdmin ? identifyOperator() : identifyUser(userMs));
      // A token can be verified before the settings are loaded, but only the settings say whether the caller's project is
      // deleted. So a request with a caller waits here.
      if (caller && !projects.isLoaded) await projects.loaded();
      // Under a short form, a read that needs no token may come with a token of any project. The project of the read is found
      // and checked later. A token of another project then counts as no token, even if its project is deleted.
      if (address.isShort && operation.auth === 'optional') return caller;
      projects.checkThere(isAdmin ? administered : caller?.projectId, operation);
      return caller;
    };
    let scope: Scope;
    try {
      // For most requests, this step is enough. Only short forms, and operations whose data a project may hide, need one of the
      // next two steps, which may take longer.
      scope = { projectId: named, caller: await identify() };
      if (address.isShort) {
        const deadline = Date.now() + requestTimeoutMs;
        scope = await scopeOf(bus, address, scope.caller, { requestId, deadline, traceparent });
        projects.checkThere(scope.projectId, operation);
        narrowOrigins(request, response, projects.of(scope.projectId).webOrigins);
      }
      if (operation.visibility && !serverKey) {
        const { projectId } = scope;
        scope = { projectId, caller: await callerFor(address, scope, { callers, projects, authorization }) };
      }
    } catch (error) {
      throw shortFormRefusal(address, error);
    }
    const { projectId, caller } = scope;

    const hasCaller = caller !== null || serverKey !== undefined;
    const idempotencyKey = idempotencyKeyOf(request.headers['idempotency-key'], { operation, hasCaller });
    const { 'user-agent': userAgent } = request.headers;
    // The settings are known by now: `identify` has waited for them.
    const seesAll = operation.visibility && !caller && projects.of(projectId).publicProfiles === 'all';
    const known = {
      ...{
        address,
        requestId,
        projectId,
        caller,
        operator,
        serverKey,
        clientIp,
        userAgent,
        traceparent,
        idempotencyKey,
      },
      seesAll: seesAll || undefined,
    };
    if (long.has(operation.kind) && !(await hasItsTurn(response))) return;
    if (isStreamed(operation)) {
      const { storageMib } = projects.of(projectId ?? administered ?? null);
      return upstreams.answer(request, response, { operation, context: { ...contextOf(known), storageMib } });
    }

    const body = await readBody(request, response);

    if (operation.kind === 'stream') {
      return streams.open(request, response, { projectId, caller, identify });
    }

    const forwarded = { ...known, body };
    const patience = { timeoutMs: requestTimeoutMs, limit };
    const listRow = listRowOf(operation);
    const reply = await (listRow
      ? forwardList(bus, listRow, forwarded, patience)
      : forward(bus, forwarded, patience));

    // Nothing has read the body of a GET. Node may have found meanwhile that this body is malformed. If it has, the request is
    // refused here.
    checkRefused(request);
    if (operation.kind === 'export') {
      return exports.answer(request, response, { operation, reply, projectId, caller, identify });
    }
    answerReply(request, response, repeatItems(reply));
  };
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiError && statusOf(error.code) === 401;
}
