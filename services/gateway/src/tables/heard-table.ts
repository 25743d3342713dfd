/**
 * A table of values by id. It hears single changes, and now and then gets the whole table that was asked for. The last change
 * heard of an id wins: a whole table that was on its way meanwhile does not undo it.
 */
export class HeardTable<V> {
  #values = new Map<string, V>();
  /** The numbers of changes by id: for each id, the last change heard that the last whole table may lack. */
  readonly #heard = new Map<string, number>();
  #words = 0;

  /** How many ids have a value. */
  get size(): number {
    return this.#values.size;
  }

  get(id: string): V | undefined {
    return this.#values.get(id);
  }

  /** Hears a change of an id; null means that it no longer has a value. */
  hear(id: string, value: V | null): void {
    this.#heard.set(id, ++this.#words);
    if (value === null) this.#values.delete(id);
    else this.#values.set(id, value);
  }

  /** The number of the last change, for `replace`: read it before asking for the whole table. */
  get mark(): number {
    return this.#words;
  }

  /** Replaces everything by a whole table, except changes heard after `mark`. */
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
