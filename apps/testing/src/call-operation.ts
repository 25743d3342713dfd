import { randomUUID } from 'node:crypto';
import { type Bus, RequestTimeout, statusHeader } from '@kith/bus';
import { type OperationSpec, rpcSubject } from '@kith/contracts';
import { type Caller, encodeContext, type RequestContext } from '@kith/service';

/** The answer of a service. */
export interface OperationAnswer {
  status: number;
  headers: Record<string, string>;
  /** The body as text, unchanged. */
  text: string;
  /** The body as parsed JSON; `undefined` if the answer has no body. */
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts what it expects of this value
  body: any;
  /** The query string of the next page, from `Link`. */
  next: string | undefined;
}

/** A call of an operation. It has only the parts that differ from the default. */
export interface OperationCall
  extends Partial<
    Pick<
      RequestContext,
      | 'projectId'
      | 'caller'
      | 'params'
      | 'query'
      | 'form'
      | 'wireVersion'
      | 'isShort'
      | 'userAgent'
      | 'clientIp'
      | 'deadline'
      | 'idempotencyKey'
      | 'operator'
      | 'serverKey'
      | 'seesAll'
    >
  > {
  /** A string is sent unchanged, and any other value as JSON. */
  body?: unknown;
  /** How long to wait for the answer; 25 s by default. */
  timeoutMs?: number;
}

const patienceMs = 25_000;

/** How long a gateway waits for an answer by default (REQUEST_TIMEOUT_MS), in ms. */
const gatewayPatienceMs = 5_000;

/**
 * Calls `ask` up to three times, and resolves with the first answer that comes before a gateway would give up. A gateway waits
 * 5 s, and a service waits 3 s for a lost database, so the service has 2 s left for its answer. If the machine is so busy that
 * the service does not run in this time, the late answer is not the service's fault. In this case, the function calls `ask`
 * again.
 */
export async function answerInTime<T>(ask: (timeoutMs: number) => Promise<T>): Promise<T> {
  for (let left = 2; ; left--) {
    try {
      return await ask(gatewayPatienceMs);
    } catch (error) {
      if (left === 0 || !(error instanceof RequestTimeout)) throw error;
    }
  }
}

/** Calls an operation of a service as the gateway does. By default, the call has no user and no project. */
export async function callOperation(
  bus: Bus,
  spec: OperationSpec,
  call: OperationCall = {},
): Promise<OperationAnswer> {
  const { body, timeoutMs = patienceMs, ...context } = call;
  const headers = encodeContext({
    requestId: 'test-request',
    projectId: null,
    caller: null,
    clientIp: '192.0.2.1',
    userAgent: 'vitest',
    wireVersion: 'v6',
    form: '',
    deadline: Date.now() + timeoutMs,
    params: {},
    query: '',
    traceparent: null,
    ...context,
  });
  const content = typeof body === 'string' ? body : JSON.stringify(body ?? {});
  const message = { headers, body: new TextEncoder().encode(content) };
  const reply = await bus.request(rpcSubject(bus.prefix, spec), message, timeoutMs);
  const text = new TextDecoder().decode(reply.body);
  return {
    status: Number(reply.headers[statusHeader]),
    headers: reply.headers,
    text,
    body: text ? JSON.parse(text) : undefined,
    next: /^<\?(.*)>; rel="next"$/.exec(reply.headers.Link ?? '')?.[1],
  };
}

/** The caller that the gateway makes from a user's token. */
export function callerOf(userId: string, role = 'visitor'): Caller {
  return { userId, sessionId: randomUUID(), role };
}
