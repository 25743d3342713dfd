import { type ErrorCode, errorBody, type OperationSpec, rpcSubject } from '@kith/contracts';
import { type Bus, type Caller, encodeContext } from '@kith/service';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it asserts
  body: any;
}

export interface Call {
  projectId: string;
  caller: Caller | null;
  params?: Record<string, string>;
  query?: string;
  /** An object is sent as JSON, a string as it is. */
  body?: unknown;
}

const patienceMs = 25_000;

/** Calls an operation as the gateway does. */
export async function call(bus: Bus, spec: OperationSpec, given: Call): Promise<Answer> {
  const headers = encodeContext({
    requestId: 'test-request',
    projectId: given.projectId,
    caller: given.caller,
    clientIp: '192.0.2.1',
    userAgent: 'vitest',
    wireVersion: 'v6',
    form: '',
    deadline: Date.now() + patienceMs,
    params: given.params ?? {},
    query: given.query ?? '',
    traceparent: null,
  });
  const content = typeof given.body === 'string' ? given.body : JSON.stringify(given.body ?? {});
  const body = new TextEncoder().encode(content);
  const reply = await bus.request(rpcSubject(bus.prefix, spec), { headers, body }, patienceMs);
  const text = new TextDecoder().decode(reply.body);
  const status = Number(reply.headers['Kith-Status']);
  return { status, headers: reply.headers, text, body: text ? JSON.parse(text) : undefined };
}

/** The status and whole body an error answers with. */
export function refusal(status: number, code: ErrorCode, extra: { message?: string; field?: string } = {}) {
  return { status, body: errorBody(code, extra) };
}

/** The caller the gateway makes of a user's token. */
export function callerOf(userId: string): Caller {
  return { userId, sessionId: '00000000-0000-4000-8000-000000000001', role: 'visitor' };
}
