import { ApiError } from './errors.ts';

/** How long before the deadline the attempts stop, in ms. The rest of the time is for sending the answer. */
const answerMs = 200;
/**
 * How long to try if nobody waits for an answer, in ms. This is used for events: if the change fails, the event is delivered
 * again later.
 */
const usualMs = 4_000;

/**
 * Makes a change that may lose a race against other changes. `attempt` reads, decides and stores. If the data has changed between
 * reading and storing, `attempt` resolves to `undefined`. Then `attempt` is called again, until shortly before the deadline (Unix
 * ms). After that, this throws `gateway/unavailable`: nothing was changed.
 */
export async function untilMade<T>(
  attempt: () => Promise<{ result: T } | undefined>,
  {
    deadline = Date.now() + usualMs,
    inTurn = (work) => work(),
  }: {
    deadline?: number | undefined;
    /** Runs work when the earlier changes of the same thing in this process have ended. By default, nothing waits. */
    inTurn?: ((work: () => Promise<T>) => Promise<T>) | undefined;
  } = {},
): Promise<T> {
  const first = await attempt();
  if (first) return first.result;
  // Only changes that have lost a race take turns. So while the database is away, no change waits for other changes to fail
  // first.
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
