import { randomUUID } from 'node:crypto';
import { StartError } from '@kith/base/config';
import type { ErrorCode } from '@kith/contracts';

/** Makes one call of the API. Both body and answer are JSON. */
export type Call = <T>(
  method: string,
  path: string,
  options?: { token?: string; body?: unknown },
) => Promise<T>;

/** A successful answer. */
export interface Answer<T> {
  body: T;
  headers: Headers;
}

/** The code of an answer that no platform gives. For example, a proxy in front of the platform has answered. */
export const notFromKith = 'not-from-kith';

/** An answer outside 2xx, or one that is not from Kith. */
export class CallError extends Error {
  readonly status: number;
  /** The code of Kith's error, or `notFromKith`. */
  readonly code: string;
  /** The answer's sentence for people. */
  readonly sentence: string;

  /** @param content The JSON of the answer, if it is JSON. Every error of Kith has a code. */
  constructor(call: string, status: number, content: unknown) {
    const { code, error = '' } = (content ?? {}) as { code?: unknown; error?: string };
    const isKiths = typeof code === 'string';
    super(`${call} answered ${status}${isKiths ? ` ${code}` : ', and this answer does not come from Kith'}`);
    this.status = status;
    this.code = isKiths ? code : notFromKith;
    this.sentence = error;
  }
}

/** An answer that leads to another server. */
export class RedirectError extends StartError {}

/** The origin to which an answer redirects, if this is another origin than that of the request. */
export function redirectOf({ status, headers }: Response, address: string): string | undefined {
  const to = URL.parse(headers.get('location') ?? '', address)?.origin;
  return status >= 300 && status < 400 && to !== new URL(address).origin ? to : undefined;
}

/**
 * Throws `RedirectError` if an answer leads to another origin. Calls follow no redirect. Otherwise another server would get their
 * bodies, for example a password, and would refuse the call, because `fetch` does not pass on the token.
 */
export async function refuseRedirect(response: Response, address: string): Promise<void> {
  const to = redirectOf(response, address);
  if (to === undefined) return;
  await response.body?.cancel();
  throw new RedirectError(`${new URL(address).origin} redirects to ${to}. Name that address instead.`);
}

/** Whether an address does not have the endpoint, for example because it is the address of ADMIN_PORT. */
export function isNowhere(error: unknown): boolean {
  return error instanceof CallError && error.code === ('route/not-found' satisfies ErrorCode);
}

export interface CallerOptions {
  /** How long to repeat a call, in ms. The default is 0, so a call is not repeated. */
  patienceMs?: number;
  /**
   * Whether a call is also repeated after a 504. The platform may have done what the call asks for, so each call then has an
   * `Idempotency-Key`. Calls of `/admin` ignore the key, so only these calls could be done twice.
   */
  isKeyed?: boolean;
}

/**
 * Makes a function that calls a gateway. A call rejects with `CallError` for an answer outside 2xx, and for one that is not
 * from Kith. If the answer is 503, or 429 by a rate limit, the platform has done nothing. The call is then repeated
 * (`CallerOptions`).
 */
export function caller(url: string, options: CallerOptions = {}): Call {
  const exchange = exchanger(url, options);
  return async <T>(...call: Parameters<Call>) => (await exchange<T>(...call)).body;
}

/** Like `caller`, but the function resolves with the whole answer. */
export function exchanger(url: string, { patienceMs = 0, isKeyed = false }: CallerOptions = {}) {
  return async <T>(...[method, path, options = {}]: Parameters<Call>): Promise<Answer<T>> => {
    const until = Date.now() + patienceMs;
    const key = isKeyed ? randomUUID() : undefined;
    for (;;) {
      const response = await send(`${url}${path}`, method, { ...options, key });
      const content = response.status === 204 ? undefined : jsonOf(await response.text());
      if (response.ok && content !== noJson) return { body: content as T, headers: response.headers };
      const { code } = (content ?? {}) as { code?: string };
      const isRunning = code === ('request/in-progress' satisfies ErrorCode);
      const isLate = isKeyed && (response.status === 504 || isRunning);
      const waitMs = isLate ? shortWaitMs : waitMsOf(response, code);
      if (waitMs === undefined || Date.now() + waitMs > until) {
        throw new CallError(`${method} ${path}`, response.status, content);
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  };
}

const noJson = {};

/** The JSON of an answer, or `noJson` if the answer is not JSON. A proxy may answer with something else. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return noJson;
  }
}

const shortWaitMs = 250;

/** How long to wait before a call is repeated, in ms. `undefined` if a repeated call would get the same answer. */
function waitMsOf({ status, headers }: Response, code: string | undefined): number | undefined {
  if (status === 503) return shortWaitMs;
  const seconds = headers.get('retry-after');
  // There is another kind of answer with 429, for too many wrong passwords. After this answer, a repeated call would count as a
  // further wrong password.
  return code === 'rate-limit/exceeded' && seconds !== null ? Number(seconds) * 1000 : undefined;
}

/**
 * Waits until a gateway gives any answer. If the connection fails, this function tries again, because its request changes
 * nothing. A call of the API is not repeated when its connection fails, because the call may already have changed something.
 * Rejects with `StartError` after `patienceMs`, and at once if the gateway's address redirects to another server.
 */
export async function answering(url: string, patienceMs: number): Promise<void> {
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      await (await send(url, 'GET', {})).arrayBuffer();
      return;
    } catch (error) {
      if (error instanceof RedirectError || Date.now() > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, shortWaitMs));
  }
}

async function send(
  address: string,
  method: string,
  { token, body, key }: { token?: string; body?: unknown; key?: string | undefined },
): Promise<Response> {
  const response = await fetch(address, {
    method,
    redirect: 'manual',
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(key ? { 'idempotency-key': key } : {}),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  }).catch((error: unknown) => {
    throw new StartError(`The gateway at ${new URL(address).origin} does not answer.`, { cause: error });
  });
  await refuseRedirect(response, address);
  return response;
}
