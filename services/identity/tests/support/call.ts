import type { Bus } from '@kith/bus';
import { type InternalOperationSpec, internalSubject } from '@kith/contracts';

export { callOperation as call } from '@kith/testing';

/** Calls an internal operation as another service does, and returns the raw body. */
export async function callInternal(bus: Bus, spec: InternalOperationSpec, content: unknown): Promise<string> {
  const body = new TextEncoder().encode(JSON.stringify(content));
  const reply = await bus.request(internalSubject(bus.prefix, spec), { headers: {}, body }, 20_000);
  return new TextDecoder().decode(reply.body);
}
