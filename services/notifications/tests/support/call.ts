import type { Bus } from '@kith/bus';
import type { OperationSpec } from '@kith/contracts';
import { callerOf, callOperation } from '@kith/testing';

export interface Answer {
  status: number;
  json: unknown;
  /** The query string of the next page, from the header `Link`. */
  next: string | undefined;
}

export interface Call {
  projectId: string;
  userId: string;
  notificationId?: string;
  query?: string;
  /** The version at the beginning of the address, as the client has written it, for example `/api/v6`. */
  form?: string;
  body?: string;
  /** How long to wait for the answer, in ms. */
  timeoutMs?: number;
}

/** Calls an operation as the gateway does, over v7. */
export async function call(bus: Bus, spec: OperationSpec, given: Call): Promise<Answer> {
  const { userId, notificationId, ...others } = given;
  const params: Record<string, string> = notificationId === undefined ? {} : { notificationId };
  const caller = callerOf(userId);
  const answer = await callOperation(bus, spec, {
    wireVersion: 'v7',
    form: '/v7',
    caller,
    params,
    ...others,
  });
  return { status: answer.status, json: answer.body, next: answer.next };
}
