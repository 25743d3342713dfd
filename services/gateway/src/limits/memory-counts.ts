import type { Count, Counting } from './count.ts';

/** How many keys are kept; one takes about 250 bytes. */
const defaults = { pairs: 100_000, ceilings: 50_000 };
const forgetEveryMs = 30_000;

/**
 * Counts in this process's memory. Its tables are bounded: a key more than they hold takes the place of the oldest, whose
 * client then starts again. Ceilings have a table of their own, so that keys of pairs cannot drive them out.
 */
export class MemoryCounts {
  readonly #pairs: Table;
  readonly #ceilings: Table;
  readonly #timer: NodeJS.Timeout;

  constructor(most: Partial<typeof defaults> = {}) {
    const { pairs, ceilings } = { ...defaults, ...most };
    this.#pairs = new Table(pairs);
    this.#ceilings = new Table(ceilings);
    this.#timer = setInterval(() => {
      const now = performance.now();
      for (const table of [this.#pairs, this.#ceilings]) table.forgetOver(now);
    }, forgetEveryMs);
    this.#timer.unref();
  }

  /** How many keys there are. */
  get size(): number {
    return this.#pairs.size + this.#ceilings.size;
  }

  /** Counts a request; one that is over the ceiling makes no key. */
  count({ key, windowSeconds, ceiling }: Counting): Count {
    // Whole, so that a difference of two is exact.
    const now = Math.trunc(performance.now());
    if (ceiling) {
      const { used, endsAt } = this.#ceilings.add(ceiling.key, ceiling.windowSeconds, now);
      if (used > ceiling.max) return { isOverCeiling: true, used: 0, msLeft: endsAt - now };
    }
    const { used, endsAt } = this.#pairs.add(key, windowSeconds, now);
    return { isOverCeiling: false, used, msLeft: endsAt - now };
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

interface Entry {
  used: number;
  endsAt: number;
}

class Table {
  readonly #most: number;
  readonly #entries = new Map<string, Entry>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#entries.size;
  }

  add(key: string, windowSeconds: number, now: number): Entry {
    const known = this.#entries.get(key);
    if (known && known.endsAt > now) {
      known.used += 1;
      return known;
    }
    // What is over goes to the end: the first of a map is the one that was put in first.
    if (known) this.#entries.delete(key);
    else if (this.#entries.size >= this.#most)
      this.#entries.delete(this.#entries.keys().next().value as string);
    const entry = { used: 1, endsAt: now + windowSeconds * 1000 };
    this.#entries.set(key, entry);
    return entry;
  }

  forgetOver(now: number): void {
    for (const [key, { endsAt }] of this.#entries) if (endsAt <= now) this.#entries.delete(key);
  }
}
