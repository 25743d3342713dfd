import { percentile } from '../summary.ts';

/**
 * Figures of the events that a consumer has applied since the last `take`: how many there were, how long it took to apply them,
 * and how long after their occurrence they were applied.
 */
export interface Applied {
  count: number;
  /** The time from the first to the last event, in s. */
  seconds: number;
  /** The delay from an event's occurrence until the event was applied, in ms. */
  p50: number;
  p99: number;
  max: number;
}

/** Records how late events were applied. Allocates its memory only once, so that allocation does not affect the measurement. */
export class Lags {
  readonly #lags: Float64Array;
  #count = 0;
  #first = 0;
  #last = 0;

  /** @param most The maximum number of events between two calls of `take`. */
  constructor(most: number) {
    this.#lags = new Float64Array(most);
  }

  get count(): number {
    return this.#count;
  }

  /** Records an event that was applied at `now`. Both times are in Unix ms. */
  applied(occurredAt: number, now: number): void {
    if (this.#count === 0) this.#first = now;
    this.#last = now;
    this.#lags[this.#count++] = Math.max(0, now - occurredAt);
  }

  /** Returns the recorded figures, and resets them. */
  take(): Applied {
    const sorted = this.#lags.subarray(0, this.#count).toSorted();
    const of = { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), max: sorted.at(-1) ?? 0 };
    const seconds = (this.#last - this.#first) / 1_000;
    const taken = { count: this.#count, seconds, ...of };
    this.#count = 0;
    return taken;
  }
}
