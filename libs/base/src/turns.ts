import { notMade } from './not-made.ts';

/** How long work waits for its turn. By default, it waits until its turn comes. */
export interface Patience {
  /** The time at which the wait ends, in Unix ms. */
  until?: number | undefined;
  /** Ends the wait when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** Runs pieces of work. If several of them have the same key, they run one after the other, in the order in which they came. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` when all earlier work with any of its keys has ended. If the turn has not come when the wait is over, the work
   * never runs, and this method throws `gateway/unavailable`, or the reason of the signal.
   */
  async run<T>(keys: readonly string[], work: () => Promise<T>, patience: Patience = {}): Promise<T> {
    // All keys are taken in one step, so two pieces of work never wait for each other.
    const earlier = keys.flatMap((key) => this.#last.get(key) ?? []);
    const result = turnAfter(earlier, patience).then(work);
    // If this work gives up, later work still waits for the earlier work.
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
  // The timer is late if the event loop was blocked.
  if (Date.now() >= Number(until)) throw notMade();
}
