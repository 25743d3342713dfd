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
import { collections, declared, entities, type StoredCollection } from './collections.ts';
import { entityPlace, entityRange, placedEntity, savedKey, savedRange } from './entity-place.ts';
import { Imports } from './imports.ts';
import { listRange, ownerRange, placeInTree } from './place.ts';
import { Purge } from './purge.ts';
import { adding, entityOf, storedEntity, storedOf } from './record.ts';
import { Tree } from './tree.ts';
import { walk } from './walk.ts';

/** Which of a collection's entities are asked for: those after `skip` others, or behind a position. */
export interface EntityRange {
  from: { skip: number } | { after: string };
  limit: number;
  newestFirst: boolean;
}

/**
 * What the service keeps: collections, each change in one write with the event that tells of it, and what is saved
 * in them. A deleted collection and all below it are there for none of these methods but `purge`. A collection is changed
 * as it was read from here, else the change is refused.
 */
export class CollectionStore {
  readonly outbox: Outbox;
  /** Answers to requests with a key. */
  readonly replies: Replies | undefined;
  readonly erased: ErasedUsers;
  readonly imports: Imports;
  readonly #documents: Documents;
  readonly #tree: Tree;
  readonly #purge: Purge;

  constructor(documents: Documents) {
    this.#documents = documents;
    this.outbox = documents.outbox;
    this.replies = documents.replies;
    this.erased = new ErasedUsers(documents);
    this.#tree = new Tree(documents);
    this.imports = new Imports(documents, this.#tree);
    this.#purge = new Purge(documents);
  }

  root(owner: Owner): Promise<CollectionRecord | null> {
    return this.#tree.root(owner);
  }

  /** A collection of this owner's; anyone else's is none. */
  async find(owner: Owner, id: string): Promise<CollectionRecord | null> {
    return (await this.#tree.findWith(owner, id, async () => undefined))?.collection ?? null;
  }

  /**
   * At most `limit` collections directly below another, oldest first, from behind the position `after`; `null` where
   * that other is not there.
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
   * Some of an owner's collections, behind a place among all of them; `limit` are looked at. `next` is the place behind
   * which more may follow.
   */
  async all(
    owner: Owner,
    { after, limit }: { after: string; limit: number },
  ): Promise<{ collections: CollectionRecord[]; next: string | null }> {
    const { there, last } = await this.#tree.all({ ...ownerRange(owner, after), limit });
    return { collections: there, next: last ? placeInTree(last) : null };
  }

  /**
   * Stores a new collection with its event. `false` where this is a root and the owner has one already, or where
   * what it was to stand below has been deleted meanwhile.
   */
  insert(record: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    return this.#make({ ...adding(record), events: [event] });
  }

  /** Stores what a change made of a collection, with its event; `false` when another change came first. */
  async replace(before: CollectionRecord, after: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    return this.#change(before, { set: storedOf(after), events: [event] });
  }

  /** Deletes a collection with all below it; `false` when another change came first. Takes as long for any size. */
  async delete(before: CollectionRecord, after: CollectionRecord, event: EventEnvelope): Promise<boolean> {
    return this.#change(before, { set: { ...storedOf(after), deleted: true }, events: [event] });
  }

  /** An entity as a collection holds it, by all changes up to the one the collection was read after, or later ones. */
  async entity(collection: CollectionRecord, entityId: string): Promise<EntityRecord | null> {
    await this.#settle(collection);
    const key = savedKey(collection, entityId);
    const [row] = (await this.#documents.by(entities, 'saved', [key])).get(key) ?? [];
    return row ? entityOf(row) : null;
  }

  /** Stores that an entity came or went and what that made of its collection; `false` when another change came first. */
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

  /** A collection with some of what it holds; `null` where it is not there. */
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

  /** The owner's collections that hold an entity, in no order. */
  async holding(owner: Owner, entityId: string): Promise<CollectionRecord[]> {
    // A change whose process died counts from its commit on, though its row may still be missing.
    await this.#documents.settle(collections, ownerRange(owner, ''));
    const homes: (Owner & { id: string })[] = [];
    for await (const { id } of walk(this.#documents, entities, savedRange(owner, entityId), 'saved'))
      homes.push({ ...owner, id: placedEntity(id).collectionId });
    return [...(await this.#tree.findAll(homes)).values()];
  }

  /** Takes away a bounded part of what deleted collections left. `true` when more may be left to take at once. */
  purge(): Promise<boolean> {
    return this.#purge.step();
  }

  /** Puts right what processes left behind when they died. */
  sweep(): Promise<void> {
    return this.#documents.sweep();
  }

  /** Erases what is left of a deleted project; `false` while each of its collections has not gone with its users. */
  eraseProject(projectId: string): Promise<boolean> {
    return eraseProject(this.#documents, projectId, {
      awaited: [collections, entities],
      cleared: [replyCollection],
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
    if (!read) throw new TypeError('Entities need a collection as the store gave it.');
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
