/** Tracks running work so that stopping can wait for it. */
export class InFlight {
  readonly #running = new Set<Promise<unknown>>();

  get size(): number {
    return this.#running.size;
  }

  /** Counts a piece of work as running until its promise settles. The promise must not reject. */
  track(work: Promise<unknown>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  /** Resolves when fewer than `most` pieces of work run. */
  async below(most: number): Promise<void> {
    while (this.#running.size >= most) await Promise.race(this.#running);
  }

  /** Resolves when no work runs. Also waits for work that starts while it waits. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
