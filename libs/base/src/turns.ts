/** Runs pieces of work. If several of them have the same key, they run one after the other, in the order in which they came. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` when all earlier work with any of its keys has ended. */
  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    // All keys are taken in one step, so two pieces of work never wait for each other.
    const earlier = keys.map((key) => this.#last.get(key));
    const result = Promise.all(earlier).then(work);
    const ended = result.catch(() => undefined);
    for (const key of keys) this.#last.set(key, ended);
    await ended;
    for (const key of keys) if (this.#last.get(key) === ended) this.#last.delete(key);
    return result;
  }
}
