import type { Documents, IdRange, Stored } from '@kith/store';
import { collections, entities, idOf, type StoredCollection } from './collections.ts';
import type { Ended } from './ended.ts';
import { entityRange } from './entity-place.ts';
import { placed } from './place.ts';

/**
 * Maximum number of documents of one kind that a step reads or erases. A step takes a few milliseconds. Meanwhile, the embedded
 * form of Kith serves no request.
 */
const batch = 200;

type Deleted = Stored<StoredCollection>;

/**
 * Erases deleted collections with everything below them, from the bottom up. A collection is found through its parent, so it is
 * erased before its parent. Therefore the purge can continue after a process has died at any point, and several processes can
 * purge at the same time.
 */
export class Purge {
  readonly #documents: Documents;
  readonly #ended: Ended;
  #walk: AsyncGenerator<void, boolean> | undefined;

  constructor(documents: Documents, ended: Ended) {
    this.#documents = documents;
    this.#ended = ended;
  }

  /** Takes one step. Returns `false` if there is nothing to do now. */
  async step(): Promise<boolean> {
    this.#walk ??= this.#eraseDeleted();
    try {
      const { done, value } = await this.#walk.next();
      if (!done) return true;
      this.#walk = undefined;
      return value;
    } catch (error) {
      this.#walk = undefined;
      throw error;
    }
  }

  /** Erases what can be erased, step by step. Returns whether anything was erased. */
  async *#eraseDeleted(): AsyncGenerator<void, boolean> {
    let erased = 0;
    for (let above: string | undefined = ''; above !== undefined; ) {
      const range = { above, below: '~', limit: batch };
      const found: Deleted[] = await this.#documents.range(collections, range, 'deleted');
      above = found.length === batch ? found.at(-1)?.id : undefined;
      if (found.length > 0) erased += yield* this.#erase(found);
    }
    return erased > 0;
  }

  /**
   * First erases everything below the collections in `some`. When nothing is left below them, erases the collections in `some`,
   * except collections that still hold events (`Documents.eraseAll`). Returns how many collections were erased.
   */
  async *#erase(some: readonly Deleted[]): AsyncGenerator<void, number> {
    const ids = some.map(({ id, doc }) => idOf(doc, id));
    let erased = 0;
    for (;;) {
      const below = await this.#documents.remaining(collections, 'parent', ids, batch);
      yield;
      if (below.length === 0) break;
      const count = yield* this.#erase(below);
      erased += count;
      if (count === 0) return erased;
    }
    const holding = some.filter(({ doc }) => doc.entityCount > 0);
    let left: readonly IdRange[] = holding.map(({ id, doc }) =>
      entityRange({ ...placed(id), id: idOf(doc, id) }),
    );
    while (left.length > 0) {
      left = await this.#documents.clearRows(entities, left, batch);
      yield;
    }
    // Records the ids before they become free, so that no import can use them in between.
    await this.#ended.noteErased(some.map(({ id, doc }) => ({ ...placed(id), id: idOf(doc, id) })));
    erased += await this.#documents.eraseAll(collections, some);
    return erased;
  }
}
