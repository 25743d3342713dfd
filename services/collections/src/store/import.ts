import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityRecord } from '../entity.ts';

/** What is to be saved in a collection, as it was found. */
export interface EntityBatch {
  collection: CollectionRecord;
  /** Each once. */
  entities: readonly EntityRecord[];
}

/** Brings collections of another back end in. None of it makes an event (docs/adr/0018). */
export interface ImportStore {
  /** The roots of owners, by `userId`, made where there are none; none of an owner who is being erased. */
  roots(owners: readonly Owner[], at: number): Promise<Map<string, CollectionRecord>>;
  /** Those of these collections that are there, by their ids. */
  find(of: readonly (Owner & { id: string })[]): Promise<Map<string, CollectionRecord>>;
  /**
   * Stores new collections whose parents are there, or come before them. Tells of each, in their order, what became of it;
   * a collection is what is there already under its id.
   */
  insert(records: readonly CollectionRecord[]): Promise<('stored' | 'deleted' | CollectionRecord)[]>;
  /**
   * Saves what is not saved yet. Of each batch those of its entities that were, as they are; null where the collection has
   * gone on since it was found.
   */
  save(batches: readonly EntityBatch[]): Promise<(EntityRecord[] | null)[]>;
}
