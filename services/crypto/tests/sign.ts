import type { Bus } from '@kith/bus';
import { signTestingJwt } from '@kith/contracts';
import { callOperation, type OperationAnswer } from '@kith/testing';

export const projectId = '3f1c0a52-7d7e-4a66-9a10-6f2f0d1c9b01';

/** Sends a body to the operation as the gateway does. */
export function sign(bus: Bus, body: unknown): Promise<OperationAnswer> {
  return callOperation(bus, signTestingJwt, { projectId, body });
}
