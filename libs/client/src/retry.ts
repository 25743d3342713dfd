import { isKithError, KithError, KithNetworkError } from './errors.ts';
import { wait } from './wait.ts';

/** The upper bound of the wait after the first failure, in ms. It doubles with each further failure. */
const firstMs = 300;
const longestBackoffMs = 8_000;
/**
 * The longest wait that the client accepts from the platform, in ms. If the platform asks for a longer wait, the caller gets
 * the error and decides what to do.
 */
const longestAskedMs = 30_000;

/**
 * Codes of errors after which any request may be sent again, because the attempt did nothing. There are three reasons: the
 * caller is over the limit, the service is not available, or an earlier attempt with the same key is still running.
 */
const nothingDone = new Set(['rate-limit/exceeded', 'gateway/unavailable', 'request/in-progress']);
/**
 * The caller has sent too many wrong passwords or codes, or has changed the address too often. A repeat could send the same wrong
 * password or code again, and would count as one more failure (spec#accounts-attempts).
 */
const guessed = 'auth/too-many-attempts';
const passing = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Errors after which no retry loop may try again. If a retry loop runs inside another retry loop and gives up, the outer loop
 * finds the error here and gives up too.
 */
const givenUp = new WeakSet<object>();

/**
 * Repeats an attempt until it succeeds, at most `retries` times. A failed attempt may have done its work nevertheless. Such an
 * attempt is repeated only if doing the work twice has the same effect as doing it once (`isSafe`, called after each failure).
 * An earlier attempt may run for up to `timeoutMs`. For this long, the answer `request/in-progress` does not count as a
 * failure.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  options: { isSafe: () => boolean; retries: number; timeoutMs?: number; signal?: AbortSignal | undefined },
): Promise<T> {
  const { isSafe, retries, timeoutMs = 0, signal } = options;
  const patienceMs = retries > 0 ? timeoutMs : 0;
  let patientUntil: number | undefined;
  let failures = 0;
  for (let pauses = 0; ; pauses++) {
    try {
      return await attempt();
    } catch (error) {
      if (isKithError(error, 'request/in-progress')) patientUntil ??= Date.now() + patienceMs;
      else patientUntil = undefined;
      if (patientUntil === undefined || Date.now() >= patientUntil) failures++;
      const delay = failures <= retries ? retryDelay(error, pauses, isSafe()) : undefined;
      if (delay === undefined) {
        throw giveUp(error);
      }
      await wait(delay, signal);
    }
  }
}

/** Marks an error, so that no retry loop tries again after it. */
export function giveUp<E>(error: E): E {
  if (typeof error === 'object' && error !== null) givenUp.add(error);
  return error;
}

/** Whether an attempt may have done its work although it has failed. */
export function mayBeDone(error: unknown): boolean {
  if (error instanceof KithNetworkError) return true;
  if (!(error instanceof KithError) || error.code === guessed) return false;
  return !nothingDone.has(error.code) && passing.has(error.status);
}

/** How long to wait before the next attempt, in ms; undefined if there must be no next attempt. */
export function retryDelay(error: unknown, failures: number, isSafe: boolean): number | undefined {
  if (givenUp.has(error as object)) return undefined;
  if (error instanceof KithNetworkError) return isSafe ? backoff(failures) : undefined;
  if (!(error instanceof KithError)) return undefined;
  if (!nothingDone.has(error.code) && !(isSafe && mayBeDone(error))) return undefined;
  const asked = error.retryAfterMs ?? 0;
  // The backoff is added to the requested wait. Without it, all refused clients would try again at the same moment.
  return asked > longestAskedMs ? undefined : asked + backoff(failures);
}

/** An exponential delay with full jitter. */
export function backoff(failures: number, first = firstMs, longest = longestBackoffMs): number {
  return Math.random() * Math.min(longest, first * 2 ** failures);
}
