import type { Kind, Record } from './record.ts';

export interface Answer {
  /** The HTTP status of the answer. 0 if there was no answer. A status in the record's `bears` is reported as 503. */
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the fields of an answer are checked one by one.
  body: any;
  /** Whether the suite knows if the request had an effect. The suite knows this after every status below 500, and after 503. */
  isCertain: boolean;
  isOk: boolean;
}

export type Ask = (
  kind: Kind,
  method: string,
  path: string,
  options?: { token?: string | undefined; body?: unknown },
) => Promise<Answer>;

/** How long to wait for an answer, in ms. Every process that handles the request gives up earlier. */
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
      // The status 503 promises that the request had no effect.
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
