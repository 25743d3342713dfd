/**
 * What is told of ids one by one, and now and then as a whole that was asked for. The last word heard of an id wins: a
 * whole that was on its way meanwhile does not undo it.
 */
export class HeardTable<V> {
  #values = new Map<string, V>();
  /** What was told one by one since the last whole: the number of the word. */
  readonly #heard = new Map<string, number>();
  #words = 0;

  /** How many ids there is something to. */
  get size(): number {
    return this.#values.size;
  }

  get(id: string): V | undefined {
    return this.#values.get(id);
  }

  /** Takes a word about an id; null is that there is nothing to it any more. */
  hear(id: string, value: V | null): void {
    this.#heard.set(id, ++this.#words);
    if (value === null) this.#values.delete(id);
    else this.#values.set(id, value);
  }

  /** The number of the last word, for `replace`: read before the whole is asked for. */
  get mark(): number {
    return this.#words;
  }

  /** Takes a whole for all there is, but for the words heard after `mark`. */
  replace(whole: Iterable<readonly [id: string, value: V]>, mark: number): void {
    const values = new Map(whole);
    for (const [id, word] of this.#heard) {
      if (word <= mark) {
        this.#heard.delete(id);
        continue;
      }
      const value = this.#values.get(id);
      if (value === undefined) values.delete(id);
      else values.set(id, value);
    }
    this.#values = values;
  }
}
