import type { Settler } from '@kith/service';
import type { Collection, Db } from 'mongodb';
import { type CollectionDocument, collectionsName } from './mongo-document.ts';
import type { MongoEntities } from './mongo-entities.ts';

/** Documents or rows of one kind a step touches. */
const batch = 500;
/** Collections whose entities a step erases. */
const mostEmptied = 50;
const atOnce = 10;
const alive = { purgeDepth: { $exists: false } } as const;

type Dead = Pick<
  CollectionDocument,
  '_id' | 'id' | 'projectId' | 'purgeDepth' | 'entityCount' | 'unsettled' | 'rev'
>;

/**
 * Purges deleted collections on MongoDB. What stands below is marked as deleted itself before anything that leads to
 * it is taken away, so that a process may die anywhere and any number may purge at once. The deepest go first: few
 * are marked at a time, however many there are.
 */
export class MongoPurge {
  readonly #collections: Collection<CollectionDocument>;
  readonly #settler: Settler;
  readonly #entities: MongoEntities;

  constructor(db: Db, parts: { settler: Settler; entities: MongoEntities }) {
    this.#collections = db.collection(collectionsName);
    this.#settler = parts.settler;
    this.#entities = parts.entities;
  }

  /** Takes one step; `false` when nothing can be done for now. */
  async step(): Promise<boolean> {
    const projection = { id: 1, projectId: 1, purgeDepth: 1, entityCount: 1, unsettled: 1, rev: 1 };
    const dead = await this.#collections
      .find<Dead>({ purgeDepth: { $gte: 0 } }, { sort: { purgeDepth: -1 }, limit: batch, projection })
      .toArray();
    if (dead.length === 0) return false;
    if (await this.#markBelow(dead)) return true;
    const { emptied, erased } = await this.#emptyAll(dead);
    const { deletedCount } = await this.#collections.deleteMany({
      _id: { $in: emptied.map(({ _id }) => _id) },
      // Events go out first. An entity's change from before the mark is settled first.
      outboxAt: { $exists: false },
      unsettledAt: { $exists: false },
    });
    return erased || deletedCount > 0;
  }

  async #markBelow(dead: readonly Dead[]): Promise<boolean> {
    const below = await this.#collections
      .find(
        { parentId: { $in: dead.map(({ id }) => id) }, ...alive },
        { projection: { _id: 1 }, limit: batch },
      )
      .toArray();
    if (below.length === 0) return false;
    await this.#collections.updateMany({ _id: { $in: below.map(({ _id }) => _id) }, ...alive }, [
      // The `rev` stops changes that are on their way.
      { $set: { purgeDepth: { $size: '$ancestors' }, rev: { $add: ['$rev', 1] } } },
    ]);
    return true;
  }

  /** Erases entities of some of these; gives those that have none left, and whether there was any to erase. */
  async #emptyAll(dead: readonly Dead[]): Promise<{ emptied: Dead[]; erased: boolean }> {
    const holds = ({ entityCount, unsettled }: Dead) => entityCount > 0 || unsettled !== undefined;
    const emptied = dead.filter((one) => !holds(one));
    const holding = dead.filter(holds).slice(0, mostEmptied);
    let erased = false;
    for (let done = 0; done < holding.length; done += atOnce) {
      const some = holding.slice(done, done + atOnce);
      const taken = await Promise.all(some.map((one) => this.#empty(one)));
      emptied.push(...some.filter((_, index) => (taken[index] ?? batch) < batch));
      erased ||= taken.some((rows) => rows > 0);
    }
    return { emptied, erased };
  }

  async #empty(one: Dead): Promise<number> {
    await this.#settler.settleTarget(collectionsName, one);
    return this.#entities.erase(one, batch);
  }
}
