/**
 * A table of values by id. `hear` stores single changes. From time to time, the caller asks for the whole table, and the answer
 * replaces all values. If a change is heard while that answer is on its way, the change stays.
 */
export class HeardTable<V> {
  #values = new Map<string, V>();
  /**
   * For each id, the number of the last change that was heard. Holds only changes that may be missing from the last whole table.
   */
  readonly #heard = new Map<string, number>();
  #words = 0;

  /** How many ids have a value. */
  get size(): number {
    return this.#values.size;
  }

  get(id: string): V | undefined {
    return this.#values.get(id);
  }

  /** Stores the announced value of an id. Null means that the id no longer has a value. */
  hear(id: string, value: V | null): void {
    this.#heard.set(id, ++this.#words);
    if (value === null) this.#values.delete(id);
    else this.#values.set(id, value);
  }

  /** The number of the last change. Read it before asking for the whole table, and pass it to `replace`. */
  get mark(): number {
    return this.#words;
  }

  /** Replaces all values with a whole table. Changes that were heard after `mark` stay. */
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
