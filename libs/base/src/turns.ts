import { notMade } from './not-made.ts';

/** How long work waits for its turn. By default, it waits until its turn comes. */
export interface Patience {
  /** The time at which the wait ends, in Unix ms. */
  until?: number | undefined;
  /** Ends the wait when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** Runs pieces of work. Pieces that have a key in common run one after the other, in the order in which they came. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` when all earlier work with any of its keys has ended. If the wait ends before the turn has come, the work never
   * runs. This method then throws `gateway/unavailable`, or, if the signal ended the wait, the signal's reason.
   */
  async run<T>(keys: readonly string[], work: () => Promise<T>, patience: Patience = {}): Promise<T> {
    // This work joins the queues of all its keys in one step, without an `await` in between. So two pieces of work never wait
    // for each other.
    const earlier = keys.flatMap((key) => this.#last.get(key) ?? []);
    const result = turnAfter(earlier, patience).then(work);
    // Later work also waits for the earlier work, because this work may give up before the earlier work has ended.
    const ended = Promise.allSettled([...earlier, result]);
    for (const key of keys) this.#last.set(key, ended);
    void ended.then(() => {
      for (const key of keys) if (this.#last.get(key) === ended) this.#last.delete(key);
    });
    return result;
  }
}

/** Resolves when all earlier work has ended. Rejects if the wait is over before that. */
async function turnAfter(earlier: readonly Promise<unknown>[], { until, signal }: Patience): Promise<void> {
  signal?.throwIfAborted();
  if (earlier.length === 0) return;
  const late = Promise.withResolvers<never>();
  const giveUp = () => late.reject(notMade());
  const stop = () => late.reject(signal?.reason);
  const timer = Number.isFinite(until) ? setTimeout(giveUp, Number(until) - Date.now()) : undefined;
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([Promise.all(earlier), late.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
  // If the event loop was blocked, the timer may not have fired although the wait is over.
  if (Date.now() >= Number(until)) throw notMade();
}
