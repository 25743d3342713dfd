/** Whom a request was for. */
export type Kind = 'identity' | 'connections' | 'collections' | 'notifications' | 'crypto';

/** What became of the requests of a row, and how long nobody was served. */
export class Record {
  requests = 0;
  /** Statuses that count as no answer, beside 5xx. */
  bears: readonly number[] = [];
  /** Answers that say that something has changed. */
  acknowledged = 0;
  /** No answer in time, none at all, or one of 5xx. */
  unanswered = 0;
  /** Answers that cannot be true, given what was acknowledged. */
  readonly wrong: string[] = [];
  readonly #served = new Map<Kind, number>();
  readonly #failed = new Map<Kind, number>();
  #silence = { ms: 0, of: '' };
  #statuses = new Map<string, number>();

  get served(): number {
    return this.requests - this.unanswered;
  }

  /** Notes an answer: whether it served whoever asked. */
  note(kind: Kind, status: number, isServed: boolean): void {
    const now = performance.now();
    this.requests += 1;
    this.#statuses.set(`${kind} ${status}`, (this.#statuses.get(`${kind} ${status}`) ?? 0) + 1);
    if (!isServed) {
      this.unanswered += 1;
      if (!this.#failed.has(kind)) this.#failed.set(kind, now);
      return;
    }
    const last = this.#served.get(kind) ?? now;
    // Only where somebody was refused meanwhile: a pause of the load is no silence.
    if (this.#failed.has(kind) && now - last > this.#silence.ms) this.#silence = { ms: now - last, of: kind };
    this.#served.set(kind, now);
    this.#failed.delete(kind);
  }

  /** The longest time between two answers of one kind within which somebody was not served, in ms. */
  get silence(): { ms: number; of: string } {
    return this.#silence;
  }

  /** How often which status, by kind. */
  get statuses(): string {
    return [...this.#statuses]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([what, times]) => `${what}: ${times}`)
      .join(', ');
  }
}
