import type { Kind, Record } from './record.ts';

export interface Answer {
  /** The status of the answer; 0 if there was no answer. */
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the fields of an answer are checked one by one.
  body: any;
  /** Whether the effect of the request is known. It is known after a success, a refusal by a rule, or a 503. */
  isCertain: boolean;
  isOk: boolean;
}

export type Ask = (
  kind: Kind,
  method: string,
  path: string,
  options?: { token?: string | undefined; body?: unknown },
) => Promise<Answer>;

/** How long to wait for an answer, in ms. This is longer than the deadline of every process that handles the request. */
const patienceMs = 15_000;

/** Makes requests to a project through the balancer and records their outcomes. */
export function asker(url: string, projectId: string, record: () => Record): Ask {
  return async (kind, method, path, { token, body } = {}) => {
    const noted = record();
    try {
      const response = await fetch(`${url}/v7/${projectId}${path}`, {
        method,
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(patienceMs),
      });
      const text = await response.text();
      const isBorne = noted.bears.includes(response.status);
      const isServed = response.status < 500 && !isBorne;
      noted.note(kind, response.status, isServed);
      const status = isBorne ? 503 : response.status;
      // The status 503 promises that nothing was done.
      return {
        status,
        body: text && JSON.parse(text),
        isCertain: isServed || status === 503,
        isOk: response.ok,
      };
    } catch {
      noted.note(kind, 0, false);
      return { status: 0, body: undefined, isCertain: false, isOk: false };
    }
  };
}
