import { notMade } from './not-made.ts';

/** The attempts stop this long before the deadline, in ms. The rest of the time is for sending the answer. */
const answerMs = 200;

/**
 * The time at which waits and attempts stop, so that the answer comes before the deadline. `deadline` and the result are in
 * Unix ms.
 */
export function answerableUntil(deadline: number): number {
  return deadline - answerMs;
}

/**
 * How long to try if nobody waits for an answer, in ms. For example, nobody waits while an event is applied. If the change
 * fails, the event is delivered again later.
 */
const usualMs = 4_000;

/**
 * Makes a change that may lose a race against other changes. `attempt` reads, decides and stores. If the data has changed
 * between reading and storing, `attempt` resolves to `undefined`. Then `attempt` is called again. The calls end shortly before
 * the deadline (Unix ms). After that, this function throws `gateway/unavailable`, which says that nothing was changed.
 */
export async function untilMade<T>(
  attempt: () => Promise<{ result: T } | undefined>,
  {
    deadline = Date.now() + usualMs,
    inTurn = (work) => work(),
  }: {
    deadline?: number | undefined;
    /**
     * Runs work after the earlier changes of the same object in this process have ended. Waits no longer than `until` (Unix
     * ms). By default, changes do not wait for each other.
     */
    inTurn?: ((work: () => Promise<T>, until: number) => Promise<T>) | undefined;
  } = {},
): Promise<T> {
  const first = await attempt();
  if (first) return first.result;
  // The first attempt does not wait for a turn. Otherwise, while the database is unreachable, each change would first wait
  // until all changes before it have failed.
  const until = answerableUntil(deadline);
  return inTurn(async () => {
    while (Date.now() < until) {
      const made = await attempt();
      if (made) return made.result;
    }
    throw notMade();
  }, until);
}
