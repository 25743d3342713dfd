import type { Count, Counting } from './count.ts';

/** The maximum number of keys that are kept. A key takes about 250 bytes. */
const defaults = { pairs: 100_000, ceilings: 50_000 };
const forgetEveryMs = 30_000;

/**
 * Counts requests in this process's memory. The tables are bounded. If a table is full, a new key replaces the oldest key. The
 * client of the oldest key is then counted from 0 again. Ceilings have a separate table, so that keys of pairs never replace
 * keys of ceilings.
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

  /** How many keys are kept now. */
  get size(): number {
    return this.#pairs.size + this.#ceilings.size;
  }

  /** Counts a request. If the request is over the ceiling, the pair of project and client gets no key. */
  count({ key, windowSeconds, ceiling }: Counting): Count {
    // Uses whole milliseconds, so that differences are exact.
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
    // If the window of a key has ended, the key goes to the end of the map. So the first entry of the map is always the oldest.
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
