import { StartError } from '@kith/base/config';

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

/** An answer outside 2xx. */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;
  /** The answer's sentence for people. */
  readonly sentence: string;

  constructor(call: string, status: number, { code, error = '' }: { code: string; error?: string }) {
    super(`${call} answered ${status} ${code}`);
    this.status = status;
    this.code = code;
    this.sentence = error;
  }
}

/**
 * Makes a function that calls a gateway. A call rejects with `CallError` for an answer outside 2xx. If the answer is 503, or
 * 429 by a rate limit, the platform has done nothing. The call is then repeated for up to `patienceMs`. The default is 0, so a
 * call is not repeated.
 */
export function caller(url: string, options: { patienceMs?: number } = {}): Call {
  const exchange = exchanger(url, options);
  return async <T>(...call: Parameters<Call>) => (await exchange<T>(...call)).body;
}

/** Like `caller`, but the function resolves with the whole answer. */
export function exchanger(url: string, { patienceMs = 0 }: { patienceMs?: number } = {}) {
  return async <T>(...[method, path, options = {}]: Parameters<Call>): Promise<Answer<T>> => {
    const until = Date.now() + patienceMs;
    for (;;) {
      const response = await send(`${url}${path}`, method, options);
      const content = response.status === 204 ? undefined : await response.json();
      if (response.ok) return { body: content as T, headers: response.headers };
      const waitMs = waitMsOf(response, content as { code?: string } | undefined);
      if (waitMs === undefined || Date.now() + waitMs > until) {
        throw new CallError(`${method} ${path}`, response.status, content as { code: string; error: string });
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  };
}

/** How long to wait before a call is repeated, in ms. `undefined` if a repeated call would get the same answer. */
function waitMsOf({ status, headers }: Response, content: { code?: string } | undefined): number | undefined {
  if (status === 503) return 250;
  const seconds = headers.get('retry-after');
  // There is another kind of answer with 429, for too many wrong passwords. After this answer, a repeated call would count as a
  // further wrong password.
  return content?.code === 'rate-limit/exceeded' && seconds !== null ? Number(seconds) * 1000 : undefined;
}

/**
 * Waits until a gateway gives any answer. If the connection fails, this function tries again, because its request changes
 * nothing. A call of the API is not repeated when its connection fails, because it may already have changed something. Rejects
 * with `StartError` after `patienceMs`.
 */
export async function answering(url: string, patienceMs: number): Promise<void> {
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      await (await send(url, 'GET', {})).arrayBuffer();
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

async function send(
  address: string,
  method: string,
  { token, body }: { token?: string; body?: unknown },
): Promise<Response> {
  try {
    return await fetch(address, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  } catch (error) {
    throw new StartError(`The gateway at ${new URL(address).origin} does not answer.`, { cause: error });
  }
}
