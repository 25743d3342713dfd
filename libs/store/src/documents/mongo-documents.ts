import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Turns } from '@kith/base';
import type { Filter, Collection as MongoCollection } from 'mongodb';
import { insertAbsent } from '../drivers/failed-writes.ts';
import { type MongoConnection, openMongo } from '../drivers/mongo.ts';
import { MongoOutbox } from '../outbox/mongo-outbox.ts';
import type { CounterFields, KeptReply, RowWrite, Change as SettledChange } from '../settle/plan.ts';
import type { Step } from '../settle/roll-forward.ts';
import { ClaimLost, isCommitRefused, Settler } from '../settle/settler.ts';
import { CarriedEvent } from './carried-event.ts';
import type { AnyCollection, Collection, Counters, Declared } from './collection.ts';
import {
  type AnyChange,
  type Copy,
  type Counted,
  checkedChanges,
  type Documents,
  type Found,
  gathered,
  type IdRange,
  type Range,
  type Refusal,
  refuseTargets,
  type Search,
  type Stored,
  standingOf,
} from './documents.ts';
import { HeldChanges } from './held-changes.ts';
import { MongoById } from './mongo-by-id.ts';
import {
  between,
  contentFields,
  MongoReads,
  type MongoTarget,
  placeOf,
  readOf,
  targetOf,
} from './mongo-collection.ts';
import { contentOf, keysOf } from './mongo-content.ts';
import { MongoCopies } from './mongo-copies.ts';
import { type Insert, inSteps, insertAll, isInsert, newKeysOf } from './mongo-inserts.ts';
import { MongoMany } from './mongo-many.ts';
import { MongoReplies } from './mongo-replies.ts';
import { schemaOf } from './mongo-schema.ts';
import { MongoUpkeep, neverWas } from './mongo-upkeep.ts';
import { replyCollection } from './reply-collection.ts';

export interface MongoDocumentsOptions extends Declared {
  url: string;
  database: string;
  /** Called between the steps of a change, so that a test can stop the change there. */
  onStep?: (step: Step) => void | Promise<void>;
}

/** Matches any time. This filter is a range, because some servers use a partial index only for ranges. */
const ever = { $gt: new Date(0) };
/**
 * If a page skips at most this many rows, its rows and the total are read at the same time. Otherwise, the total is read first.
 * The rows are then read only if there are more rows than the page skips.
 */
const shallow = 20_000;
/** The number of lost races after which a change fails. A race is lost if another change of the target is made first. */
const attempts = 5;

/**
 * Opens a service's database on MongoDB. A change is first committed in its target, and the writes that follow from the change
 * are made afterwards (docs/adr/0005). Throws `StartError`.
 */
export async function openMongoDocuments(options: MongoDocumentsOptions): Promise<Documents> {
  const { url, database, collections, counters = [], onStep } = options;
  const connection = await openMongo({ url, database, schema: schemaOf(options) });
  try {
    return new MongoDocuments(connection, { collections, counters, onStep });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

class MongoDocuments implements Documents {
  readonly outbox: MongoOutbox;
  readonly replies: MongoReplies | undefined;
  readonly #connection: MongoConnection;
  readonly #settler: Settler;
  readonly #many: MongoMany;
  readonly #upkeep: MongoUpkeep;
  readonly #turns = new Turns();
  readonly #reads: ReadonlyMap<string, MongoReads<unknown>>;
  readonly #copies: ReadonlyMap<string, MongoCopies>;
  readonly #counters: ReadonlyMap<string, MongoById<CounterFields>>;

  constructor(
    connection: MongoConnection,
    {
      collections,
      counters,
      onStep,
    }: {
      collections: readonly AnyCollection[];
      counters: readonly Counters[];
      onStep?: MongoDocumentsOptions['onStep'];
    },
  ) {
    const { db } = connection;
    this.#connection = connection;
    this.#settler = new Settler(db, onStep ? { onStep } : {});
    this.#upkeep = new MongoUpkeep(this.#settler);
    const telling = collections.filter(({ kind, silent }) => kind === 'target' && !silent);
    this.outbox = new MongoOutbox(
      db,
      telling.map(({ name }) => name),
    );
    this.#many = new MongoMany({
      ...{ db, onStep, settler: this.#settler, outbox: this.outbox },
      readsOf: (of) => this.#readsOf(of),
      settled: (change, { _id, rev }) => this.#settled(change, _id, rev),
      makeOne: (change) => this.#inTurn(change, () => this.#make(change)),
    });
    this.#reads = new Map(collections.map((one) => [one.name, new MongoReads(db, one)]));
    const copies = collections.filter(({ kind }) => kind === 'copy');
    this.#copies = new Map(copies.map(({ name }) => [name, new MongoCopies(db.collection(name))]));
    this.#counters = new Map(
      counters.map(({ name }) => [name, new MongoById(db.collection<CounterFields>(name))]),
    );
    this.replies = collections.includes(replyCollection)
      ? new MongoReplies({
          stored: db.collection(replyCollection.name),
          settler: this.#settler,
          make: (change, reply) => this.#makeAnswered(change, reply),
          erase: ({ in: of, target }) => this.erase(of, target),
        })
      : undefined;
  }

  async get<D>(
    of: Collection<D>,
    ids: readonly string[],
    { settled = false }: { settled?: boolean } = {},
  ): Promise<Map<string, Stored<D>>> {
    const found = await this.#readsOf(of).find(ids);
    if (settled)
      await Promise.all(found.map((one) => this.#settler.settleTarget(of.name, one as MongoTarget)));
    return new Map(found.map((one) => [one._id, readOf(of, one)]));
  }

  async by<D>(of: Collection<D>, index: string, keys: readonly string[]): Promise<Map<string, Stored<D>[]>> {
    const found = await this.#readsOf(of).findBy(index, keys);
    return gathered(found.map((one) => [one.k?.[index] ?? '', readOf(of, one)]));
  }

  async texts<F extends string>(
    of: AnyCollection,
    ids: readonly string[],
    fields: readonly F[],
  ): Promise<Map<string, Record<F, string>>> {
    return this.#readsOf(of).texts(ids, fields);
  }

  async idsBy(of: AnyCollection, index: string, keys: readonly string[]): Promise<Map<string, string[]>> {
    return gathered(await this.#readsOf(of).idsBy(index, keys));
  }

  async settle<D>(of: Collection<D>, which: Stored<D> | IdRange): Promise<void> {
    const open = 'above' in which ? await this.#openOf(of, which) : [targetOf(which)];
    await Promise.all(open.map((target) => this.#settler.settleTarget(of.name, target)));
  }

  async #openOf<D>(of: Collection<D>, range: IdRange): Promise<MongoTarget[]> {
    const filter = { unsettledAt: ever, _id: between(range) } as Filter<MongoTarget>;
    return this.#targetsOf(of)
      .find(filter, { projection: { unsettled: 1, rev: 1 } })
      .toArray();
  }

  async sums<F extends string>(
    of: Counters<F>,
    ids: readonly string[],
  ): Promise<Map<string, Record<F, number>>> {
    const readAll = () => this.#countersOf(of).find(ids);
    let found = await readAll();
    const settled = await Promise.all(found.map((counter) => this.#settle(of, counter)));
    // One further read is enough: every change that was acknowledged before this call is counted now.
    if (settled.includes(true)) found = await readAll();
    const byId = new Map(found.map((counter) => [counter._id, counter as unknown as Record<string, number>]));
    const sumsOf = (id: string) =>
      Object.fromEntries(of.fields.map((field) => [field, byId.get(id)?.[field] ?? 0])) as Record<F, number>;
    return new Map(ids.map((id) => [id, sumsOf(id)]));
  }

  async range<D>(of: Collection<D>, range: Range, index?: string): Promise<Stored<D>[]> {
    return (await this.#readsOf(of).range(range, index)).map((one) => readOf(of, one));
  }

  async page<D>(
    of: Collection<D>,
    range: Range,
    { in: counters, id, field }: { in: Counters; id: string; field: string },
  ): Promise<{ rows: Stored<D>[]; total: number }> {
    const { skip = 0, except = [] } = range;
    const isDeep = skip > shallow;
    const sums = this.#countersOf(counters);
    // Counters are read at the end of this turn of the event loop, together with the counters of other requests. Rows are read
    // at the same moment, so that both together take only the time of one round trip.
    const readRows = async () => {
      await endOfTurn();
      return this.range(of, range);
    };
    const readBoth = () => Promise.all([sums.find([id]), isDeep ? [] : readRows()]);
    let [[counter], rows] = await readBoth();
    if (counter && (await this.#settle(counters, counter))) [[counter], rows] = await readBoth();
    const counted = (counter as Record<string, unknown> | undefined)?.[field];
    const total = Math.max((typeof counted === 'number' ? counted : 0) - except.length, 0);
    if (isDeep && skip < total) rows = await this.range(of, range);
    return { rows: skip >= total ? [] : rows, total };
  }

  async count(of: AnyCollection, range: Counted, index?: string): Promise<number> {
    return this.#readsOf(of).count(range, index);
  }

  async search<D>(of: Collection<D>, range: Range, how: Search): Promise<Found<D>> {
    const { found, total } = await this.#readsOf(of).search(range, how);
    return { found: found.map((one) => readOf(of, one)), total };
  }

  change(changes: readonly AnyChange[]): Promise<('made' | Refusal)[]> {
    return CarriedEvent.along(this.outbox, changes, (all) => this.#change(all));
  }

  async #change(changes: readonly AnyChange[]): Promise<('made' | Refusal)[]> {
    const held = this.replies && HeldChanges.current(this.replies);
    if (held) return held.hold(changes);
    const checked: AnyChange[] = checkedChanges(changes);
    const inserts = checked.filter(isInsert);
    if (inserts.length < checked.length) return this.#many.make(checked);
    const outcomes: ('made' | Refusal)[] = [];
    for (const step of inSteps(inserts)) outcomes.push(...(await this.#insert(step)));
    return outcomes;
  }

  async keep<D>(of: Collection<D>, copies: readonly Copy<D>[]): Promise<void> {
    const checked = copies.map(({ id, doc, ...copy }) => ({
      ...{ _id: id, ...contentOf(of, id, of.schema.parse(doc)), rev: 0, ...standingOf(copy) },
    }));
    await this.#copiesOf(of).keep(checked);
  }

  async clear(
    of: AnyCollection | Counters,
    { above, below, limit }: Omit<Range, 'skip' | 'backwards' | 'except'>,
  ): Promise<number> {
    refuseTargets(of);
    const stored = ('fields' in of
      ? this.#countersOf(of).stored
      : this.#readsOf(of).stored) as unknown as MongoCollection<{ _id: string }>;
    // Does not delete counters with intents. An intent belongs to a change that is about to add to the counter. Without the
    // counter, this change would never be counted.
    const idle = 'fields' in of ? { 'pending.0': { $exists: false } } : {};
    // Includes the remains of removed rows, because their ids are in the range too.
    const some = stored.find(
      { _id: { $gt: above, $lt: below }, ...idle },
      { projection: { _id: 1 }, sort: { _id: 1 }, limit },
    );
    const ids = (await some.toArray()).map(({ _id }) => _id);
    return ids.length === 0 ? 0 : (await stored.deleteMany({ _id: { $in: ids }, ...idle })).deletedCount;
  }

  async remaining<D>(
    of: Collection<D>,
    index: string,
    keys: readonly string[],
    limit: number,
  ): Promise<Stored<D>[]> {
    return this.#upkeep.remaining(this.#readsOf(of), index, keys, limit);
  }

  async clearRows(of: AnyCollection, ranges: readonly IdRange[], limit: number): Promise<readonly IdRange[]> {
    refuseTargets(of);
    return this.#upkeep.clearRows(this.#readsOf(of), ranges, limit);
  }

  async eraseAll<D>(of: Collection<D>, targets: readonly Stored<D>[]): Promise<number> {
    return this.#upkeep.eraseAll(this.#readsOf(of), targets);
  }

  async erase<D>(of: Collection<D>, target: Stored<D> | string): Promise<boolean> {
    return this.#upkeep.erase(this.#readsOf(of), target);
  }

  async clearIds(of: AnyCollection, ids: readonly string[]): Promise<void> {
    refuseTargets(of);
    if (ids.length > 0) await this.#readsOf(of).stored.deleteMany({ _id: { $in: [...ids] } });
  }

  async changedWithin<D>(of: Collection<D>, target: Stored<D>, ms: number): Promise<boolean> {
    const { _id, rev } = targetOf(target);
    const since = { $subtract: ['$$NOW', ms] };
    const asRead = { _id, rev, changedAt: { $exists: true }, $expr: { $gte: ['$changedAt', since] } };
    return (await this.#readsOf(of).stored.findOne(asRead, { projection: { _id: 1 } })) !== null;
  }

  async sweep(): Promise<void> {
    const replies = this.replies ? [replyCollection.name] : [];
    return this.#upkeep.sweep([...this.#reads.values()], [...this.#counters.keys(), ...replies]);
  }

  check(): Promise<void> {
    return this.#connection.check();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Makes the inserts of one step (`inSteps`). */
  async #insert(inserts: readonly Insert[]): Promise<('made' | Refusal)[]> {
    const all = async () => {
      const outcomes: ('made' | Refusal)[] = [];
      const [{ in: of }] = inserts as [Insert];
      for (const [at, outcome] of (await insertAll(this.#readsOf(of), inserts)).entries())
        outcomes.push(outcome === 'place' ? await this.#make(inserts[at] as Insert) : outcome);
      return outcomes;
    };
    const [first, ...others] = inserts as [Insert];
    return others.length === 0 ? this.#inTurn(first, all) : all();
  }

  /**
   * Racing writes of one key can deadlock for a second (docs/adr/0010). So this process makes its writes of a key one after the
   * other.
   */
  #inTurn<T>(change: AnyChange, work: () => Promise<T>): Promise<T> {
    const keys = newKeysOf(change);
    return keys.length === 0 ? work() : this.#turns.run(keys, work);
  }

  /** Makes a change of a request that has an idempotency key. With `reply`, stores the answer together with the change. */
  async #makeAnswered(change: AnyChange, reply?: KeptReply): Promise<'made' | 'lost' | Refusal> {
    if (!reply) return (await this.change([change]))[0] as 'made' | Refusal;
    const checked = checkedChanges([change])[0] as AnyChange;
    try {
      return await this.#inTurn(checked, () => this.#make(checked, reply));
    } catch (error) {
      if (error instanceof ClaimLost) return 'lost';
      throw error;
    }
  }

  async #make(change: AnyChange, reply?: KeptReply): Promise<'made' | Refusal> {
    const { in: of, set, below } = change;
    const reads = this.#readsOf(of);
    const id = typeof change.target === 'string' ? change.target : change.target.id;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const target =
        typeof change.target === 'string' ? await this.#placeOf(reads, id, set) : targetOf(change.target);
      if (target === undefined) return 'there';
      await this.#settler.settleTarget(of.name, target);
      await this.outbox.makeRoom(of.name, target);
      // The document that `below` requires is looked for only now, after the placeholder and its keys are stored. So a process
      // that deletes this document from now on finds the placeholder.
      if (below && !(await this.#areThere(reads, below))) {
        if (typeof change.target === 'string') {
          await this.#giveUp(of, target);
          return 'orphan';
        }
        const [current] = await reads.find([id]);
        return current?.rev === target.rev ? 'orphan' : 'changed';
      }
      try {
        const isMade = await this.#settler.change({ ...this.#settled(change, id, target.rev), reply });
        if (isMade) return 'made';
        if (typeof change.target !== 'string') return 'changed';
      } catch (error) {
        if (error instanceof ClaimLost && typeof change.target === 'string') await this.#giveUp(of, target);
        if (!isCommitRefused(error)) throw error;
        const taken = set === null ? undefined : await this.#takenBy(reads, id, set);
        if (taken !== undefined) {
          if (typeof change.target === 'string') await this.#giveUp(of, target);
          return { taken };
        }
      }
    }
    throw new Error(`Other changes of ${of.name} were faster every time.`);
  }

  /** Converts a change to the form that the settler takes. */
  #settled(change: AnyChange, id: string, rev: number): SettledChange {
    const { in: of, set, rows = [], counters = [], events = [] } = change;
    const content: Record<string, unknown> = set === null ? { emptyAt: new Date() } : contentOf(of, id, set);
    const stamp = of.dated && set !== null && typeof change.target !== 'string' ? 'changedAt' : undefined;
    const gone = [...contentFields, 'emptyAt', ...(of.dated && !stamp ? ['changedAt'] : [])];
    return {
      target: { in: of.name, id, rev },
      set: content,
      unset: gone.filter((field) => !(field in content)),
      stamp,
      events,
      rows: rows.map((row) => this.#rowOf(row)),
      counters: counters.map(({ in: sums, id: counterId, add }) => ({
        in: this.#countersOf(sums).stored.collectionName,
        id: counterId,
        inc: { ...add },
      })),
    };
  }

  /**
   * Makes the placeholder of a new target, or takes over the placeholder that another process has left behind. Returns
   * `undefined` if the target exists already.
   */
  async #placeOf(reads: MongoReads<unknown>, id: string, set: unknown): Promise<MongoTarget | undefined> {
    const stored = reads.stored as unknown as MongoCollection<MongoTarget>;
    const place = placeOf(reads.collection, id, set);
    const [taken] = await insertAbsent(stored, [place]);
    if (!taken) return place;
    const there = await stored.findOne({ _id: id });
    if (there?.shape !== undefined) return undefined;
    if (there)
      await stored.updateOne(
        { _id: id, rev: there.rev, shape: { $exists: false } },
        { $set: { k: place.k ?? {} } },
      );
    return there ?? (await this.#placeOf(reads, id, set));
  }

  /**
   * Removes the placeholder of a refused target. If another process has taken the placeholder over meanwhile, that process has
   * to begin its change again.
   */
  async #giveUp<D>(of: Collection<D>, { _id, rev }: MongoTarget): Promise<void> {
    await this.#targetsOf(of).deleteOne({ _id, rev, ...neverWas } as Filter<MongoTarget>);
  }

  async #areThere(
    reads: MongoReads<unknown>,
    { index, keys }: { index: string; keys: readonly string[] },
  ): Promise<boolean> {
    const there = new Set((await reads.idsBy(index, keys)).map(([key]) => key));
    return there.size === new Set(keys).size;
  }

  async #takenBy(reads: MongoReads<unknown>, id: string, doc: unknown): Promise<string | undefined> {
    const { indexes = {} } = reads.collection;
    for (const [index, key] of Object.entries(keysOf(reads.collection, id, doc))) {
      if (!indexes[index]?.unique) continue;
      if ((await reads.findBy(index, [key])).some(({ _id }) => _id !== id)) return index;
    }
    return undefined;
  }

  #rowOf({ in: of, id, put }: { in: AnyCollection; id: string; put: unknown }): RowWrite {
    this.#readsOf(of);
    return { in: of.name, id, put: put === null ? null : contentOf(of, id, put) };
  }

  #settle({ name }: Counters, counter: CounterFields): Promise<boolean> | boolean {
    return !!counter.pending?.length && this.#settler.settleCounter(name, counter);
  }

  #readsOf<D>({ name }: Collection<D>): MongoReads<D> {
    const reads = this.#reads.get(name);
    if (!reads) throw new TypeError(`${name} is not one of this database's collections.`);
    return reads as unknown as MongoReads<D>;
  }

  #targetsOf<D>(of: Collection<D>): MongoCollection<MongoTarget> {
    return this.#readsOf(of).stored as unknown as MongoCollection<MongoTarget>;
  }

  #copiesOf({ name }: AnyCollection): MongoCopies {
    const copies = this.#copies.get(name);
    if (!copies) throw new TypeError(`${name} is not one of this database's copies.`);
    return copies;
  }

  #countersOf({ name }: Counters): MongoById<CounterFields> {
    const counters = this.#counters.get(name);
    if (!counters) throw new TypeError(`${name} is not one of this database's counters.`);
    return counters;
  }
}
