/**
 * How long this process has known things, by its own clock. The times that are stored with the things are of the replicas that have
 * stored them, and the clocks of two replicas may differ by an hour.
 */
export class KnownSince {
  #since = new Map<string, number>();

  /** Notes which things there are, and forgets all others. */
  note(keys: Iterable<string>): void {
    const now = performance.now();
    this.#since = new Map([...keys].map((key) => [key, this.#since.get(key) ?? now]));
  }

  /** Whether a thing was noted at least `ms` ago, and at every call of `note` since. */
  isFor(key: string, ms: number): boolean {
    const since = this.#since.get(key);
    return since !== undefined && performance.now() - since >= ms;
  }
}
