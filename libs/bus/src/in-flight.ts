/** Tracks running work so that stopping can wait for it. */
export class InFlight {
  readonly #running = new Set<Promise<unknown>>();

  get size(): number {
    return this.#running.size;
  }

  /** Remembers a piece of work until it settles. The work must not reject. */
  track(work: Promise<unknown>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  /** Resolves when fewer than `most` pieces of work run. */
  async below(most: number): Promise<void> {
    while (this.#running.size >= most) await Promise.race(this.#running);
  }

  /** Resolves when no work runs. Waits also for work that begins meanwhile. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
