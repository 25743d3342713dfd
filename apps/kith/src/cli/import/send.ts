import { setTimeout as wait } from 'node:timers/promises';
import { StartError } from '@kith/base/config';
import { type ImportResult, importResult } from '@kith/contracts';
import { CallError } from '../../demo/api.ts';
import type { PlatformAccess } from '../platform-access.ts';

/** How long a platform that is away, or overloaded, is waited for. */
const patienceMs = 60_000;
const longestWaitMs = 5_000;

/**
 * Sends rows, again while the platform is away, slow or failing: rows that are there already change nothing. Rejects
 * with `CallError` for any other answer, `StartError` when nobody answers for a minute; `signal` ends it.
 */
export async function sendRows(
  access: Pick<PlatformAccess, 'origin' | 'token'>,
  path: string,
  rows: readonly string[],
  signal: AbortSignal,
): Promise<ImportResult> {
  const until = Date.now() + patienceMs;
  for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    const answer = await post(access, path, `{"rows":[${rows.join(',')}]}`, signal);
    if (answer instanceof Response && answer.ok) return importResult.parse(await answer.json());
    const isLate = Date.now() > until;
    if (answer instanceof Response) {
      const told = (await answer.json().catch(() => ({ code: 'no-json' }))) as {
        code: string;
        error?: string;
      };
      const isPassing = answer.status === 429 || answer.status >= 500;
      if (!isPassing || isLate) throw new CallError(`POST ${path}`, answer.status, told);
    } else if (isLate)
      throw new StartError(`The gateway at ${access.origin} does not answer.`, { cause: answer });
    await wait(waitMs, undefined, { signal });
  }
}

async function post(
  { origin, token }: Pick<PlatformAccess, 'origin' | 'token'>,
  path: string,
  body: string,
  signal: AbortSignal,
): Promise<Response | Error> {
  try {
    return await fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
      signal,
    });
  } catch (error) {
    return error as Error;
  }
}
