import { KithError, KithNetworkError } from './errors.ts';
import { wait } from './wait.ts';

/** The upper bound of the wait after the first failure, in ms. It doubles with each further failure. */
const firstMs = 300;
const longestBackoffMs = 8_000;
/** If the platform asks for a longer wait than this, in ms, the caller gets the error instead and decides. */
const longestAskedMs = 30_000;

/** Answers that mean that nothing was done: over the limit, no service available, or the previous attempt is still under way. */
const nothingDone = new Set(['rate-limit/exceeded', 'gateway/unavailable', 'request/in-progress']);
const passing = new Set([408, 429, 500, 502, 503, 504]);

/** Errors that one retry loop has given up on, so that a loop around it does not retry them. */
const givenUp = new WeakSet<object>();

/**
 * Repeats an attempt until it succeeds, at most `retries` times. If the work may have been done despite the failure, it is
 * tried again only if doing it twice is the same as doing it once (`isSafe`).
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

/** Marks an error, so that no loop tries again after it. */
export function giveUp<E>(error: E): E {
  if (typeof error === 'object' && error !== null) givenUp.add(error);
  return error;
}

/** How long to wait before the next attempt, in ms; undefined if there must be none. */
export function retryDelay(error: unknown, failures: number, isSafe: boolean): number | undefined {
  if (givenUp.has(error as object)) return undefined;
  if (error instanceof KithNetworkError) return isSafe ? backoff(failures) : undefined;
  if (!(error instanceof KithError)) return undefined;
  if (!nothingDone.has(error.code) && !(isSafe && passing.has(error.status))) return undefined;
  const asked = error.retryAfterMs ?? 0;
  // The backoff is added to the requested wait: otherwise all refused clients would come again at the same moment.
  return asked > longestAskedMs ? undefined : asked + backoff(failures);
}

/** An exponential delay with full jitter. */
export function backoff(failures: number, first = firstMs, longest = longestBackoffMs): number {
  return Math.random() * Math.min(longest, first * 2 ** failures);
}
