import { randomUUID } from 'node:crypto';
import { type OperationSpec, rpcSubject } from '@kith/contracts';
import { type Bus, encodeContext, statusHeader } from '@kith/service';

export interface Answer {
  status: number;
  json: unknown;
  /** The query string of the next page, from `Link`. */
  next: string | undefined;
}

export interface Call {
  projectId: string;
  userId: string;
  notificationId?: string;
  query?: string;
  /** The explicit version prefix of the address. */
  form?: string;
  body?: string;
}

const patienceMs = 20_000;

/** Calls an operation as the gateway does. */
export async function call(bus: Bus, spec: OperationSpec, given: Call): Promise<Answer> {
  const headers = encodeContext({
    requestId: randomUUID(),
    projectId: given.projectId,
    caller: { userId: given.userId, sessionId: randomUUID(), role: 'visitor' },
    clientIp: '192.0.2.1',
    userAgent: '',
    wireVersion: 'v7',
    form: given.form ?? '/v7',
    deadline: Date.now() + patienceMs,
    params: given.notificationId === undefined ? {} : { notificationId: given.notificationId },
    query: given.query ?? '',
    traceparent: null,
  });
  const message = { headers, body: new TextEncoder().encode(given.body ?? '') };
  const reply = await bus.request(rpcSubject(bus.prefix, spec), message, patienceMs);
  const next = /^<\?(.*)>; rel="next"$/.exec(reply.headers.Link ?? '')?.[1];
  const json = JSON.parse(new TextDecoder().decode(reply.body));
  return { status: Number(reply.headers[statusHeader]), json, next };
}
