import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Documents, Stored } from '@kith/store';
import type { Owner } from '../collection.ts';
import { isImportedId } from '../imported.ts';
import { collections, endedCollections, type StoredCollection } from './collections.ts';
import { endedKey, ownerRange, projectRange, rootPlace } from './place.ts';

/**
 * How long no import can use the id of a deleted collection, in ms. The events of the collection are kept for a shorter time (7
 * days).
 */
export const keepEndedMs = 9 * 24 * 3600 * 1000;

const batch = 1_000;

type Whose = Owner & { id: string };

/**
 * The ids of imported collections that were deleted. Another import of the same row would give a new collection the same id.
 * The events of this new collection would repeat the `seq` of events that are still kept. So imports refuse these ids for a
 * while (docs/adr/0018).
 */
export class Ended {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Records that collections are deleted. Skips collections that were not imported, because no import can use their ids. */
  async note(some: readonly Whose[]): Promise<void> {
    const imported = some.filter(({ id }) => isImportedId(id));
    if (imported.length === 0) return;
    const until = Date.now() + keepEndedMs;
    const marks = imported.map((one) => ({ id: endedKey(one), doc: { until }, epoch: 0, version: until }));
    await this.#documents.keep(endedCollections, marks);
  }

  /**
   * Like `note`, for collections that are about to be erased. Skips collections of owners without a root: the accounts of these
   * owners have ended, and `forget` removes their records.
   */
  async noteErased(some: readonly Whose[]): Promise<void> {
    const imported = some.filter(({ id }) => isImportedId(id));
    if (imported.length === 0) return;
    const roots = await this.#documents.get(collections, [...new Set(imported.map(rootPlace))]);
    const isThere = (root: Stored<StoredCollection> | undefined) => root !== undefined && !root.doc.deleted;
    await this.note(imported.filter((one) => isThere(roots.get(rootPlace(one)))));
  }

  /** Checks which of the collections are recorded as deleted, and returns the ids of these. */
  async among(some: readonly Whose[]): Promise<Set<string>> {
    const [first] = some;
    if (!first) return new Set();
    // All collections of an import are in one project. Most projects have no such record, so this one query is usually enough.
    const any = await this.#documents.range(endedCollections, { ...projectRange(first), limit: 1 });
    if (any.length === 0) return new Set();
    const found = await this.#documents.get(endedCollections, some.map(endedKey));
    return new Set(some.filter((one) => found.has(endedKey(one))).map(({ id }) => id));
  }

  /** Removes all records of an owner who is being erased. */
  async forget(owner: Owner): Promise<void> {
    const range = { ...ownerRange(owner, ''), limit: batch };
    while ((await this.#documents.clear(endedCollections, range)) > 0) await nextTurn();
  }
}
