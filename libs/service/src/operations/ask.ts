import { ApiError } from '@kith/base';
import { type Bus, codeHeader } from '@kith/bus';
import {
  type BodyOf,
  type InternalOperationSpec,
  internalSubject,
  isErrorCode,
  type OutputOf,
} from '@kith/contracts';
import type { z } from 'zod';
import { encodeContext } from './context.ts';

/**
 * Calls an operation of another service. Throws an `ApiError` with the error code of the other service, `NoResponders` or
 * `RequestTimeout`.
 */
export async function ask<O extends InternalOperationSpec>(
  bus: Bus,
  spec: O,
  body: z.input<O['body']> | BodyOf<O>,
  context: { requestId: string; deadline: number; traceparent?: string | null | undefined },
): Promise<OutputOf<O>> {
  const left = Math.max(context.deadline - Date.now(), 1);
  const { requestId, deadline, traceparent = null } = context;
  const reply = await bus.request(
    internalSubject(bus.prefix, spec),
    {
      headers: encodeContext({ requestId, deadline, traceparent }),
      body: new TextEncoder().encode(JSON.stringify(body)),
    },
    left,
    // If an operation between services runs twice, the effect is the same as if it runs once. So the bus may send the request
    // again.
    { repeatable: true },
  );
  const code = reply.headers[codeHeader];
  if (code && isErrorCode(code)) throw new ApiError(code);
  // A newer version may answer with a code that this version does not know.
  if (code) throw new Error(`${spec.name} failed with the unknown code ${code}.`);
  return spec.output.parse(JSON.parse(new TextDecoder().decode(reply.body))) as OutputOf<O>;
}
