import { ApiError } from '@kith/base';
import { type Bus, type Message, receivedAt, shedHeader } from '@kith/bus';
import { rpcSubject } from '@kith/contracts';
import {
  type Caller,
  encodeContext,
  type OperatorCaller,
  type RequestContext,
  type ServerKeyCaller,
} from '@kith/service';
import type { Address } from '../routes/address.ts';
import { busFailure } from './bus-failure.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';

const longestUserAgent = 512;

/**
 * A request as it is forwarded. The client may have sent more, but only the body and the fields named here go on to the
 * service.
 */
export interface Forwarded {
  address: Extract<Address, { kind: 'operation' }>;
  requestId: string;
  /** The project in the address. For a short form, the project that was found for the request. */
  projectId: string | null;
  caller: Caller | null;
  operator?: OperatorCaller | undefined;
  serverKey?: ServerKeyCaller | undefined;
  clientIp: string;
  userAgent: string | undefined;
  /** The request's place in a trace, as in the header `traceparent`. */
  traceparent: string | undefined;
  body: Uint8Array;
  idempotencyKey: string | undefined;
  seesAll: true | undefined;
}

/** The information about a request that a service receives. */
export function contextOf(request: Omit<Forwarded, 'body'>): Omit<RequestContext, 'deadline'> {
  const { wireVersion, form, isShort, params, query } = request.address;
  const { projectId, caller, operator, serverKey } = request;
  return {
    requestId: request.requestId,
    projectId,
    caller: caller && { userId: caller.userId, sessionId: caller.sessionId, role: caller.role },
    ...(operator && { operator }),
    ...(serverKey && { serverKey }),
    clientIp: request.clientIp,
    userAgent: request.userAgent?.slice(0, longestUserAgent) ?? '',
    wireVersion,
    form,
    ...(isShort ? { isShort } : {}),
    params,
    query,
    traceparent: request.traceparent ?? null,
    ...(request.idempotencyKey === undefined ? {} : { idempotencyKey: request.idempotencyKey }),
    ...(request.seesAll ? { seesAll: true } : {}),
  };
}

/**
 * Asks the operation's service and returns the reply. Throws `gateway/unavailable` if no process serves the operation, and
 * `gateway/timeout` if the service does not answer within `timeoutMs`. If this process was so busy that the request may have
 * waited in it for `timeoutMs`, throws `gateway/unavailable` and does not ask the service.
 */
export async function forward(
  bus: Bus,
  request: Forwarded,
  { timeoutMs, limit }: { timeoutMs: number; limit: ConcurrencyLimit },
): Promise<Message> {
  const { operation } = request.address;
  const deadline = receivedAt() + timeoutMs;
  const leftMs = deadline - Date.now();
  if (leftMs <= 0) throw new ApiError('gateway/unavailable');
  const headers = encodeContext({ ...contextOf(request), deadline });
  const number = limit.begin();
  let reply: Message | undefined;
  try {
    reply = await bus.request(rpcSubject(bus.prefix, operation), { headers, body: request.body }, leftMs, {
      // If a read is recorded in the audit log, its repeat would add a second row there. While the service is overloaded, no
      // request is repeated, because a repeat would only add load.
      repeatable: operation.method === 'GET' && operation.audit === undefined && !limit.isLimited,
    });
    return reply;
  } catch (error) {
    throw busFailure(error);
  } finally {
    limit.end(number, reply ? (shedHeader in reply.headers ? 'shed' : 'answered') : 'failed');
  }
}
