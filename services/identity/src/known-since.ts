/**
 * Measures, by this process's own clock, how long it has known each key, for example the key of a deleted user. Stored times
 * cannot be used for this: they come from other replicas, and the clocks of two replicas may differ by an hour.
 */
export class KnownSince {
  #since = new Map<string, number>();

  /** Notes which keys there are now, and forgets all others. */
  note(keys: Iterable<string>): void {
    const now = performance.now();
    this.#since = new Map([...keys].map((key) => [key, this.#since.get(key) ?? now]));
  }

  /** Whether a key was noted at least `ms` ago, and in every call of `note` since then. */
  isFor(key: string, ms: number): boolean {
    const since = this.#since.get(key);
    return since !== undefined && performance.now() - since >= ms;
  }
}
