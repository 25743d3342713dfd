import { StartError } from '@kith/base/config';

/** One call of the API: JSON in, JSON out. */
export type Call = <T>(
  method: string,
  path: string,
  options?: { token?: string; body?: unknown },
) => Promise<T>;

/** An answer outside 2xx. */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;
  /** What the answer says to people. */
  readonly sentence: string;

  constructor(call: string, status: number, { code, error = '' }: { code: string; error?: string }) {
    super(`${call} answered ${status} ${code}`);
    this.status = status;
    this.code = code;
    this.sentence = error;
  }
}

/**
 * Makes calls to a gateway. They reject with `CallError` for an answer outside 2xx. A 503 means that nothing was done: the call is
 * repeated for up to `patienceMs` (default: not at all).
 */
export function caller(url: string, { patienceMs = 0 }: { patienceMs?: number } = {}): Call {
  return async <T>(method: string, path: string, options: { token?: string; body?: unknown } = {}) => {
    const until = Date.now() + patienceMs;
    for (;;) {
      const response = await send(`${url}${path}`, method, options);
      const content = response.status === 204 ? undefined : await response.json();
      if (response.ok) return content as T;
      if (response.status !== 503 || Date.now() > until) {
        throw new CallError(`${method} ${path}`, response.status, content as { code: string; error: string });
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  };
}

/**
 * Waits until a gateway answers at all, whatever it says. Only here is a failed connection tried again, as nothing was asked yet. A
 * call whose connection breaks may have had its effect. Rejects with `StartError` after `patienceMs`.
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
