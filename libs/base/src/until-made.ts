import { ApiError } from './errors.ts';

/** How much of a deadline is kept for the answer, in ms. */
const answerMs = 200;
/** How long to try, in ms, when nobody waits for an answer: an event is delivered again later. */
const usualMs = 4_000;

/**
 * Makes a change that may lose a race against others. `attempt` reads, decides and stores, and resolves to `undefined` if what
 * it read has changed meanwhile. Then it is repeated, until shortly before the deadline (Unix ms). After that, throws
 * `gateway/unavailable`: nothing was done.
 */
export async function untilMade<T>(
  attempt: () => Promise<{ result: T } | undefined>,
  {
    deadline = Date.now() + usualMs,
    inTurn = (work) => work(),
  }: {
    deadline?: number | undefined;
    /** Makes changes of the same thing in one process take turns. */
    inTurn?: ((work: () => Promise<T>) => Promise<T>) | undefined;
  } = {},
): Promise<T> {
  const first = await attempt();
  if (first) return first.result;
  // Only changes that have lost a race take turns: while the database is away, no change has to wait until others have failed.
  return inTurn(async () => {
    while (Date.now() < deadline - answerMs) {
      const made = await attempt();
      if (made) return made.result;
    }
    throw new ApiError('gateway/unavailable', {
      message:
        'Other requests kept changing this at the same time. Nothing was changed. Try again in a second.',
    });
  });
}
