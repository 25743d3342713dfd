import { KithError, KithNetworkError } from './errors.ts';
import { wait } from './wait.ts';

/** First wait between two attempts at most, in ms; it doubles. */
const firstMs = 300;
const longestBackoffMs = 8_000;
/** A platform that asks to wait for longer than this is not waited for: the caller gets the error, and decides. */
const longestAskedMs = 30_000;

/** Answers that say that nothing was done: over the limit, nobody there to do it, or the attempt before is still under way. */
const nothingDone = new Set(['rate-limit/exceeded', 'gateway/unavailable', 'request/in-progress']);
const passing = new Set([408, 429, 500, 502, 503, 504]);

/** What one loop has given up is not taken up by another around it. */
const givenUp = new WeakSet<object>();

/**
 * Attempts until it succeeds, at most `retries` times more. A failure after which the work may have been done is tried
 * again only if doing it twice is the same as once (`isSafe`).
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  options: { isSafe: boolean; retries: number; signal?: AbortSignal | undefined },
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      const delay = failures < options.retries ? retryDelay(error, failures, options.isSafe) : undefined;
      if (delay === undefined) {
        throw giveUp(error);
      }
      await wait(delay, options.signal);
    }
  }
}

/** Lets no loop try again after this error. */
export function giveUp<E>(error: E): E {
  if (typeof error === 'object' && error !== null) givenUp.add(error);
  return error;
}

/** How long to wait before the next attempt, in ms; undefined where there is to be none. */
export function retryDelay(error: unknown, failures: number, isSafe: boolean): number | undefined {
  if (givenUp.has(error as object)) return undefined;
  if (error instanceof KithNetworkError) return isSafe ? backoff(failures) : undefined;
  if (!(error instanceof KithError)) return undefined;
  if (!nothingDone.has(error.code) && !(isSafe && passing.has(error.status))) return undefined;
  const asked = error.retryAfterMs ?? 0;
  // On top of what is asked for, or all who were refused would come again in the same moment.
  return asked > longestAskedMs ? undefined : asked + backoff(failures);
}

/** Exponential, with full jitter. */
export function backoff(failures: number, first = firstMs, longest = longestBackoffMs): number {
  return Math.random() * Math.min(longest, first * 2 ** failures);
}
