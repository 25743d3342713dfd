import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventEnvelope } from '@kith/contracts';
import { ErasedUsers, eraseProject } from '@kith/service';
import {
  type DocumentChange,
  type Documents,
  type Outbox,
  type Replies,
  replyCollection,
  type StoreConfig,
} from '@kith/store';
import { openDocuments } from '@kith/store/open';
import type { CollectionRecord, Owner } from '../collection.ts';
import type { EntityChange, EntityRecord } from '../entity.ts';
import {
  collections,
  declared,
  endedCollections,
  entities,
  idOf,
  type StoredCollection,
} from './collections.ts';
import { Ended } from './ended.ts';
import { entityPlace, entityRange, placedEntity, savedKey, savedRange } from './entity-place.ts';
import { Imports } from './imports.ts';
import { listRange, ownerRange, placeInTree } from './place.ts';
import { Purge } from './purge.ts';
import { adding, deleting, entityOf, storedEntity, storedOf } from './record.ts';
import { Tree } from './tree.ts';
import { walk } from './walk.ts';

/** How many orphans are deleted at a time. Meanwhile, the embedded form of Kith serves no request. */
const batch = 200;

/** Which entities of a collection to read: those after the first `skip` entities, or those after a position. */
export interface EntityRange {
  from: { skip: number } | { after: string };
  limit: number;
  newestFirst: boolean;
}

/**
 * The store of collections and of the entities in them. One write stores a change of a collection together with its event. Only
 * `purge` sees deleted collections and what is below them. A change is refused if its collection was not read from this store,
 * or has changed since it was read.
 */
export class CollectionStore {
  readonly outbox: Outbox;
  /** The stored answers to requests with an idempotency key. */
  readonly replies: Replies | undefined;
  readonly erased: ErasedUsers;
  readonly imports: Imports;
  readonly #documents: Documents;
  readonly #tree: Tree;
  readonly #ended: Ended;
  readonly #purge: Purge;

  constructor(documents: Documents) {
    this.#documents = documents;
    this.outbox = documents.outbox;
    this.replies = documents.replies;
    this.erased = new ErasedUsers(documents);
    this.#tree = new Tree(documents);
    this.#ended = new Ended(documents);
    this.imports = new Imports(documents, this.#tree, this.#ended);
    this.#purge = new Purge(documents, this.#ended);
  }

  root(owner: Owner): Promise<CollectionRecord | null> {
    return this.#tree.root(owner);
  }

  /** Finds a collection of this owner. Returns `null` if the collection does not exist or belongs to somebody else. */
  async find(owner: Owner, id: string): Promise<CollectionRecord | null> {
    return (await this.#tree.findWith(owner, id, async () => undefined))?.collection ?? null;
  }

  /**
   * Returns at most `limit` collections directly below another collection, oldest first. The list begins after the position
   * `after`. Returns `null` if the parent does not exist.
   */
  async children(
    owner: Owner,
    parentId: string,
    { after, limit }: { after: string | null; limit: number },
  ): Promise<CollectionRecord[] | null> {
    const read = () => this.#tree.children({ ...listRange(owner, parentId, after), limit });
    return (await this.#tree.findWith(owner, parentId, read))?.more ?? null;
  }

  /**
   * Returns some of an owner's collections, after the place `after`. It reads `limit` documents and leaves out deleted
   * collections. More collections may follow after the place `next`. At the end, `next` is null.
   */
  async all(
    owner: Owner,
    { after, limit }: { after: string; limit: number },
  ): Promise<{ collections: CollectionRecord[]; next: string | null }> {
    const { there, last } = await this.#tree.all({ ...ownerRange(owner, after), limit });
    return { collections: there, next: last ? placeInTree(last) : null };
  }

  /**
   * Stores a new collection with its event. Returns `false` if the collection is a root and the owner has a root already. Also
   * returns `false` if a collection above it has been deleted meanwhile.
   */
  insert(record: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    return this.#make({ ...adding(record), events: [event] });
  }

  /** Stores a changed collection with the event of the change. Returns `false` if another change came first. */
  async replace(before: CollectionRecord, after: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    return this.#change(before, { set: storedOf(after), events: [event] });
  }

  /**
   * Deletes a collection with everything below it. The number of collections does not affect how long the deletion takes.
   * Returns `false` if another change came first.
   */
  async delete(before: CollectionRecord, after: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    // Records the deletion before it happens. While the collection still exists, this record has no effect.
    await this.#ended.note([before]);
    const set = { ...storedOf(after), deleted: true as const };
    return this.#change(before, { set, erases: true, events: [event] });
  }

  /**
   * Deletes an owner's orphans: collections whose parent is not stored. There are no events, because nobody can access these
   * collections. A backup that was made while collections were created may hold such collections. They are not below the root,
   * so the deletion of the root does not reach them. Call this method only for an owner who is being erased.
   */
  async deleteOrphans(owner: Owner): Promise<void> {
    const ids = new Set<string>();
    /** The ids of the parents, by the places of their children. */
    const parents = new Map<string, string>();
    for await (const { id: place, doc } of walk(this.#documents, collections, ownerRange(owner, ''))) {
      ids.add(idOf(doc, place));
      const parentId = doc.ancestors.at(-1);
      if (parentId !== undefined && !doc.deleted) parents.set(place, parentId);
    }
    const orphans = [...parents].flatMap(([place, parentId]) => (ids.has(parentId) ? [] : [place]));
    for (let at = 0; at < orphans.length; at += batch) {
      const some = await this.#documents.get(collections, orphans.slice(at, at + batch));
      const left = [...some.values()].filter(({ doc }) => !doc.deleted);
      // The purger erases children before their parents. If the purger has erased an orphan since it was read, the change of
      // this orphan is refused, and nothing is left to do.
      await this.#documents.change(left.map(deleting));
      await nextTurn();
    }
  }

  /**
   * Returns an entity of a collection, or `null` if the entity is not there. The result includes all changes that were made
   * before the collection was read.
   */
  async entity(collection: CollectionRecord, entityId: string): Promise<EntityRecord | null> {
    await this.#settle(collection);
    const key = savedKey(collection, entityId);
    const [row] = (await this.#documents.by(entities, 'saved', [key])).get(key) ?? [];
    return row ? entityOf(row) : null;
  }

  /**
   * Stores the addition or the removal of an entity, together with the changed collection. Returns `false` if another change
   * came first.
   */
  async changeEntity(
    before: CollectionRecord,
    after: CollectionRecord,
    { kind, entity }: EntityChange,
    event: EventEnvelope,
  ): Promise<boolean> {
    const put = kind === 'add' ? storedEntity(before, entity) : null;
    const rows = [{ in: entities, id: entityPlace(before, entity), put }];
    return this.#change(before, { set: storedOf(after), rows, events: [event] });
  }

  async entities(collection: CollectionRecord, range: EntityRange): Promise<EntityRecord[]> {
    await this.#settle(collection);
    const { from, limit, newestFirst } = range;
    const places = entityRange(collection);
    const after = 'after' in from && { [newestFirst ? 'below' : 'above']: places.above + from.after };
    const rows = await this.#documents.range(entities, {
      ...{ ...places, ...after, limit, skip: 'skip' in from ? from.skip : 0 },
      ...(newestFirst && { backwards: true }),
    });
    return rows.map(entityOf);
  }

  /** Returns a collection with some of its entities, or `null` if the collection does not exist. */
  async withEntities(
    owner: Owner,
    id: string,
    range: EntityRange,
  ): Promise<{ collection: CollectionRecord; entities: EntityRecord[] } | null> {
    const found = await this.#tree.findWith(owner, id, async (collection) => {
      const isPastEnd = 'skip' in range.from && range.from.skip >= collection.entityCount;
      return isPastEnd ? [] : this.entities(collection, range);
    });
    return found && { collection: found.collection, entities: found.more };
  }

  /** Returns the owner's collections that hold an entity, in no particular order. */
  async holding(owner: Owner, entityId: string): Promise<CollectionRecord[]> {
    // As soon as a change is committed, it counts, even if its row is not written yet. If a process died between the commit and
    // the write of the row, `settle` writes the row now.
    await this.#documents.settle(collections, ownerRange(owner, ''));
    const homes: (Owner & { id: string })[] = [];
    for await (const { id } of walk(this.#documents, entities, savedRange(owner, entityId), 'saved'))
      homes.push({ ...owner, id: placedEntity(id).collectionId });
    return [...(await this.#tree.findAll(homes)).values()];
  }

  /** Forgets which imported collections of an owner were deleted. Call this method only for an owner who is being erased. */
  forgetEnded(owner: Owner): Promise<void> {
    return this.#ended.forget(owner);
  }

  /** Erases a limited part of the data of deleted collections. Returns `true` if there may be more to erase right away. */
  purge(): Promise<boolean> {
    return this.#purge.step();
  }

  /** Repairs what processes left unfinished when they died. */
  sweep(): Promise<void> {
    return this.#documents.sweep();
  }

  /**
   * Erases what is left of a deleted project. Returns `false` while the project still has collections. These are erased with
   * the project's users.
   */
  eraseProject(projectId: string): Promise<boolean> {
    return eraseProject(this.#documents, projectId, {
      awaited: [collections, entities],
      cleared: [endedCollections, replyCollection],
    });
  }

  /** Rejects when the store cannot be used. */
  check(): Promise<void> {
    return this.#documents.check();
  }

  close(): Promise<void> {
    return this.#documents.close();
  }

  async #settle(collection: CollectionRecord): Promise<void> {
    const read = this.#tree.readOf(collection);
    if (!read) throw new TypeError('The collection was not read from this store.');
    await this.#documents.settle(collections, read);
  }

  async #change(
    before: CollectionRecord,
    change: Omit<DocumentChange<StoredCollection>, 'in' | 'target'>,
  ): Promise<boolean> {
    const target = this.#tree.readOf(before);
    return target !== undefined && this.#make({ in: collections, target, ...change });
  }

  async #make(change: DocumentChange<StoredCollection>): Promise<boolean> {
    return (await this.#documents.change([change]))[0] === 'made';
  }
}

/** Opens the store of the configured kind and brings its schema up to date. Throws `StartError`. */
export async function openStore(config: StoreConfig): Promise<CollectionStore> {
  return new CollectionStore(await openDocuments(config, declared));
}
