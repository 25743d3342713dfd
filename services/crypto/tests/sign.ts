import { rpcSubject, signTestingJwt } from '@kith/contracts';
import { type Bus, encodeContext, statusHeader } from '@kith/service';

export const projectId = '3f1c0a52-7d7e-4a66-9a10-6f2f0d1c9b01';

/** Sends a body to the operation as the gateway does, and gives status, parsed body and its text. */
export async function sign(
  bus: Bus,
  body: unknown,
): Promise<{ status: number; json: unknown; text: string }> {
  const headers = encodeContext({
    requestId: 'request-1',
    projectId,
    caller: null,
    clientIp: '192.0.2.1',
    userAgent: 'test',
    wireVersion: 'v6',
    form: '',
    deadline: Date.now() + 10_000,
    params: {},
    query: '',
    traceparent: null,
  });
  const message = { headers, body: new TextEncoder().encode(JSON.stringify(body)) };
  const reply = await bus.request(rpcSubject(bus.prefix, signTestingJwt), message, 10_000);
  const text = new TextDecoder().decode(reply.body);
  return { status: Number(reply.headers[statusHeader]), json: JSON.parse(text), text };
}
