/** The service to which a request was sent. */
export type Kind = 'identity' | 'connections' | 'collections' | 'notifications' | 'crypto';

/** The outcomes of a row's requests, and the longest silence. */
export class Record {
  requests = 0;
  /** The statuses, in addition to 5xx, of requests that count as not served. */
  bears: readonly number[] = [];
  /** How many answers confirmed a change. */
  acknowledged = 0;
  /** How many requests were not served: they got no answer in time, or the status was 5xx or in `bears`. */
  unanswered = 0;
  /** Answers that contradict earlier acknowledged changes. */
  readonly wrong: string[] = [];
  readonly #served = new Map<Kind, number>();
  readonly #failed = new Map<Kind, number>();
  #silence = { ms: 0, of: '' };
  #statuses = new Map<string, number>();

  get served(): number {
    return this.requests - this.unanswered;
  }

  /** Records an answer. `isServed` is false if there was no answer, or if the status was 5xx or in `bears`. */
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
    // The time is a silence only if at least one request was made in between and was not served. If no request was made, the
    // load paused, and this is no silence.
    if (this.#failed.has(kind) && now - last > this.#silence.ms) this.#silence = { ms: now - last, of: kind };
    this.#served.set(kind, now);
    this.#failed.delete(kind);
  }

  /**
   * The longest silence, in ms. A silence is the time between two served requests of one kind, if at least one request of this
   * kind between them was not served.
   */
  get silence(): { ms: number; of: string } {
    return this.#silence;
  }

  /** How often each kind of request was answered with each status. */
  get statuses(): string {
    return [...this.#statuses]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([what, times]) => `${what}: ${times}`)
      .join(', ');
  }
}
