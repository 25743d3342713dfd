import { type InternalOperationSpec, internalSubject, type OperationSpec, rpcSubject } from '@kith/contracts';
import { type Bus, type Caller, encodeContext } from '@kith/service';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it asserts
  body: any;
}

export interface Call {
  projectId?: string;
  caller?: Caller;
  params?: Record<string, string>;
  /** The query string, without the question mark. */
  query?: string;
  /** An object is sent as JSON, a string as it is. */
  body?: unknown;
  userAgent?: string;
  deadline?: number;
  /** How long to wait for the answer. */
  timeoutMs?: number;
}

/** Calls an operation as the gateway does. */
export async function call(bus: Bus, spec: OperationSpec, given: Call = {}): Promise<Answer> {
  const headers = encodeContext({
    requestId: 'test-request',
    projectId: given.projectId ?? null,
    caller: given.caller ?? null,
    clientIp: '192.0.2.1',
    userAgent: given.userAgent ?? 'vitest',
    wireVersion: 'v6',
    form: '',
    deadline: given.deadline ?? Date.now() + 20_000,
    params: given.params ?? {},
    query: given.query ?? '',
    traceparent: null,
  });
  const content = typeof given.body === 'string' ? given.body : JSON.stringify(given.body ?? {});
  const body = new TextEncoder().encode(content);
  const reply = await bus.request(rpcSubject(bus.prefix, spec), { headers, body }, given.timeoutMs ?? 20_000);
  const text = new TextDecoder().decode(reply.body);
  return {
    status: Number(reply.headers['Kith-Status']),
    headers: reply.headers,
    text,
    body: text === '' ? null : JSON.parse(text),
  };
}

/** Asks an internal operation as another service does, and gives the raw body. */
export async function callInternal(bus: Bus, spec: InternalOperationSpec, content: unknown): Promise<string> {
  const body = new TextEncoder().encode(JSON.stringify(content));
  const reply = await bus.request(internalSubject(bus.prefix, spec), { headers: {}, body }, 20_000);
  return new TextDecoder().decode(reply.body);
}
