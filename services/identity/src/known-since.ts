/**
 * Measures, by the clock of this process, how long this process has known each key, for example the key of a deleted user.
 * Times in the database cannot be used for this, because other replicas have written them, and the clocks of two replicas may
 * differ by an hour.
 */
export class KnownSince {
  #since = new Map<string, number>();

  /** Records that exactly these keys exist now, and forgets all other keys. */
  note(keys: Iterable<string>): void {
    const now = performance.now();
    this.#since = new Map([...keys].map((key) => [key, this.#since.get(key) ?? now]));
  }

  /**
   * Whether this process has known the key for at least `ms`. If `note` is called without the key, the time starts again from
   * zero when `note` is next called with the key.
   */
  isFor(key: string, ms: number): boolean {
    const since = this.#since.get(key);
    return since !== undefined && performance.now() - since >= ms;
  }
}
