import type { EventEnvelope } from '@kith/contracts';
import type { Outbox, StoreConfig } from '@kith/service';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityChange, EntityRecord } from '../entity.ts';
import type { ImportStore } from './import.ts';
import { openMongoStore } from './mongo.ts';
import { openSqliteStore } from './sqlite.ts';

/** Which of a collection's entities are asked for: those after `skip` others, or behind a position. */
export interface EntityRange {
  from: { skip: number } | { after: string };
  limit: number;
  newestFirst: boolean;
}

/** Which users were erased lately. */
export interface ErasedStore {
  mark(owner: Owner, until: number): Promise<void>;
  /** Those whose mark has not run out. */
  marked(now: number): Promise<Owner[]>;
}

/**
 * What the service keeps: collections, each change in one write with the event that tells of it, and what is saved
 * in them. A deleted collection and all below it are there for none of these methods but `purge`.
 */
export interface CollectionStore {
  readonly outbox: Outbox;
  readonly erased: ErasedStore;
  readonly imports: ImportStore;
  root(owner: Owner): Promise<CollectionRecord | null>;
  /** A collection of this owner's; anyone else's is none. */
  find(owner: Owner, id: string): Promise<CollectionRecord | null>;
  /**
   * At most `limit` collections directly below another, oldest first, from behind the position `after`; `null` where
   * that other is not there.
   */
  children(
    owner: Owner,
    parentId: string,
    range: { after: string | null; limit: number },
  ): Promise<CollectionRecord[] | null>;
  /**
   * Some of an owner's collections, behind a place among all of them; `limit` are looked at. `next` is the place behind
   * which more may follow.
   */
  all(
    owner: Owner,
    range: { after: string; limit: number },
  ): Promise<{ collections: CollectionRecord[]; next: string | null }>;
  /**
   * Stores a new collection with its event. `false` where this is a root and the owner has one already, or where
   * what it was to stand below has been deleted meanwhile.
   */
  insert(record: CollectionRecord, event: EventEnvelope): Promise<boolean>;
  /** Stores what a change made of a collection, with its event, if it still is at `rev`; else `false`. */
  replace(rev: number, record: CollectionRecord, event: EventEnvelope): Promise<boolean>;
  /** Deletes a collection with all below it, if it still is at `rev`; else `false`. Takes as long for any size. */
  delete(rev: number, record: CollectionRecord, event: EventEnvelope): Promise<boolean>;
  /** An entity as a collection holds it, by all changes up to the `rev` the collection was read at, or later ones. */
  entity(collection: CollectionRecord, entityId: string): Promise<EntityRecord | null>;
  /** Stores that an entity came or went and what that made of its collection, if it still is at `before`; else `false`. */
  changeEntity(
    before: CollectionRecord,
    after: CollectionRecord,
    change: EntityChange,
    event: EventEnvelope,
  ): Promise<boolean>;
  entities(collection: CollectionRecord, range: EntityRange): Promise<EntityRecord[]>;
  /** A collection with some of what it holds; `null` where it is not there. */
  withEntities(
    owner: Owner,
    id: string,
    range: EntityRange,
  ): Promise<{ collection: CollectionRecord; entities: EntityRecord[] } | null>;
  /** The owner's collections that hold an entity, in no order. */
  holding(owner: Owner, entityId: string): Promise<CollectionRecord[]>;
  /** Takes away a bounded part of what deleted collections left. `true` when more may be left to take at once. */
  purge(): Promise<boolean>;
  /** Puts right what processes left behind when they died. */
  sweep(): Promise<void>;
  /** Rejects when the store can not be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the store of the configured kind and brings its schema up to date. Throws `StartError`. */
export function openStore(config: StoreConfig): Promise<CollectionStore> {
  return config.kind === 'mongo' ? openMongoStore(config) : openSqliteStore(config);
}
