import { ApiError } from './errors.ts';

/** What is left of a deadline for the answer, in ms. */
const answerMs = 200;
/** How long is tried where nobody waits for an answer, in ms: an event is delivered again. */
const usualMs = 4_000;

/**
 * Makes a change that others may be faster at: `attempt` reads, decides and stores, and gives nothing where what it had read has gone on,
 * which means that somebody else has got something done. Then it is made again, until shortly before the deadline (Unix ms). Throws `gateway/unavailable` after that: nothing was done.
 */
export async function untilMade<T>(
  attempt: () => Promise<{ result: T } | undefined>,
  {
    deadline = Date.now() + usualMs,
    inTurn = (work) => work(),
  }: {
    deadline?: number | undefined;
    /** Has those of one process who change the same take turns. */
    inTurn?: ((work: () => Promise<T>) => Promise<T>) | undefined;
  } = {},
): Promise<T> {
  const first = await attempt();
  if (first) return first.result;
  // Only those who have lost take turns: while the database is away, nobody is to wait for others' failures.
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
