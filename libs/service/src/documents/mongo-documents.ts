import type { Db, Filter, Collection as MongoCollection } from 'mongodb';
import { StartError } from '../errors.ts';
import { eventsIndexes, MongoOutbox, marksIndexes } from '../events/mongo-outbox.ts';
import { type CounterFields, pendingIndex, type RowWrite } from '../settle/plan.ts';
import { isCommitRefused, Settler, type Step } from '../settle/settler.ts';
import { insertAbsent, writeAll } from '../store/failed-writes.ts';
import { type MongoConnection, type MongoSchema, openMongo } from '../store/mongo.ts';
import { type AnyCollection, asDeclared, type Collection, type Counters, layoutOf } from './collection.ts';
import {
  type AnyChange,
  type Copy,
  checkedChanges,
  type Documents,
  type Range,
  type Refusal,
  refuseTargets,
  type Stored,
  standingOf,
} from './documents.ts';
import {
  contentFields,
  contentOf,
  indexesOf,
  keysOf,
  type MongoDocument,
  MongoReads,
  type MongoTarget,
} from './mongo-collection.ts';
import type { Declared } from './open-documents.ts';

export interface MongoDocumentsOptions extends Declared {
  url: string;
  database: string;
  /** Between the steps of a change, where a test stops it. */
  onStep?: (step: Step) => void | Promise<void>;
}

/** A document as it was read. */
type Read<D> = Stored<D> & { stored: MongoTarget };

/**
 * How long what was deleted, or never came to count, keeps its place: far longer than anyone waits for a change or trusts its plan, on
 * machines whose clocks differ by an hour.
 */
const emptyMs = 70 * 60_000;
/** Filter for a target with no events and no change on the way. */
const isQuiet = { outboxAt: { $exists: false }, unsettled: { $exists: false } } as const;
/** Rows that are read at once with their total; beyond, the total tells first whether there are so many. */
const shallow = 20_000;
/** Races for one key; each loss means that another one has changed something. */
const attempts = 5;

/** Opens a service's database on MongoDB, where a change is settled (docs/adr/0005). Throws `StartError`. */
export async function openMongoDocuments(options: MongoDocumentsOptions): Promise<Documents> {
  const { url, database, collections, counters = [], onStep } = options;
  const schema: MongoSchema = {
    version: 1,
    collections: {
      events: eventsIndexes,
      marks: marksIndexes,
      ...Object.fromEntries(collections.map((one) => [one.name, indexesOf(one)])),
      ...Object.fromEntries(counters.map(({ name }) => [name, [pendingIndex]])),
    },
  };
  const connection = await openMongo({ url, database, schema });
  try {
    await noteLayout(connection.db, [...collections, ...counters]);
    return new MongoDocuments(connection, { collections, counters, onStep });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Notes what is declared. What is there otherwise needs a migration, and is refused. */
async function noteLayout(db: Db, declared: readonly (AnyCollection | Counters)[]): Promise<void> {
  const layout = db.collection<{ _id: string; made: string }>('layout');
  const notes = declared.map((one) => ({ _id: one.name, made: layoutOf(one) }));
  for (const { _id, made } of await insertAbsent(layout, notes)) {
    const there = await layout.findOne({ _id });
    if (there?.made !== made) {
      throw new StartError(`${db.databaseName}: ${_id} is stored in another way than this version does.`);
    }
  }
}

class MongoDocuments implements Documents {
  readonly outbox: MongoOutbox;
  readonly #connection: MongoConnection;
  readonly #settler: Settler;
  readonly #targets: readonly string[];
  readonly #reads: ReadonlyMap<string, MongoReads<unknown>>;
  readonly #counters: ReadonlyMap<string, MongoCollection<CounterFields>>;

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
    this.#targets = collections.filter(({ kind }) => kind === 'target').map(({ name }) => name);
    this.outbox = new MongoOutbox(db, this.#targets);
    this.#reads = new Map(collections.map((one) => [one.name, new MongoReads(db, one)]));
    this.#counters = new Map(counters.map(({ name }) => [name, db.collection<CounterFields>(name)]));
  }

  async get<D>(of: Collection<D>, ids: readonly string[]): Promise<Map<string, Stored<D>>> {
    const found = await this.#readsOf(of).find(ids);
    return new Map(found.map((one) => [one._id, read(of, one)]));
  }

  async by<D>(of: Collection<D>, index: string, keys: readonly string[]): Promise<Map<string, Stored<D>[]>> {
    const found = await this.#readsOf(of).findBy(index, keys);
    const byKey = Map.groupBy(found, ({ k }) => k?.[index] ?? '');
    return new Map([...byKey].map(([key, some]) => [key, some.map((one) => read(of, one))]));
  }

  async sums<F extends string>(
    of: Counters<F>,
    ids: readonly string[],
  ): Promise<Map<string, Record<F, number>>> {
    const counters = this.#countersOf(of);
    const readAll = () =>
      counters.find({ _id: { $in: [...ids] } }, { batchSize: Math.max(ids.length, 1) }).toArray();
    let found = await readAll();
    const settled = await Promise.all(found.map((counter) => this.#settle(of, counter)));
    // Once is enough: what was acknowledged before is counted now.
    if (settled.includes(true)) found = await readAll();
    const byId = new Map(found.map((counter) => [counter._id, counter as unknown as Record<string, number>]));
    const sumsOf = (id: string) =>
      Object.fromEntries(of.fields.map((field) => [field, byId.get(id)?.[field] ?? 0])) as Record<F, number>;
    return new Map(ids.map((id) => [id, sumsOf(id)]));
  }

  async range<D>(of: Collection<D>, range: Range, index?: string): Promise<Stored<D>[]> {
    return (await this.#readsOf(of).range(range, index)).map((one) => read(of, one));
  }

  async page<D>(
    of: Collection<D>,
    range: Range,
    { in: counters, id, field }: { in: Counters; id: string; field: string },
  ): Promise<{ rows: Stored<D>[]; total: number }> {
    const { skip = 0, except = [] } = range;
    const isDeep = skip > shallow;
    const stored = this.#countersOf(counters);
    const readBoth = () => Promise.all([stored.findOne({ _id: id }), isDeep ? [] : this.range(of, range)]);
    let [counter, rows] = await readBoth();
    if (counter && (await this.#settle(counters, counter))) [counter, rows] = await readBoth();
    const counted = (counter as Record<string, unknown> | null)?.[field];
    const total = Math.max((typeof counted === 'number' ? counted : 0) - except.length, 0);
    if (isDeep && skip < total) rows = await this.range(of, range);
    return { rows: skip >= total ? [] : rows, total };
  }

  async count(of: AnyCollection, range: Omit<Range, 'limit' | 'skip'>, index?: string): Promise<number> {
    return this.#readsOf(of).count(range, index);
  }

  async search<D>(
    of: Collection<D>,
    range: Range,
    how: { text: string; fields: readonly string[]; starts?: true; index?: string },
  ): Promise<{ found: Stored<D>[]; total: number }> {
    const { found, total } = await this.#readsOf(of).search(range, how);
    return { found: found.map((one) => read(of, one)), total };
  }

  async change(changes: readonly AnyChange[]): Promise<('made' | Refusal)[]> {
    const outcomes: ('made' | Refusal)[] = [];
    for (const one of checkedChanges(changes)) outcomes.push(await this.#make(one));
    return outcomes;
  }

  async keep<D>(of: Collection<D>, copies: readonly Copy<D>[]): Promise<void> {
    const stored = this.#readsOf(of).stored as unknown as MongoCollection<MongoDocument & { rev: number }>;
    // Of several of one id in a call the newest.
    const newest = new Map<string, MongoDocument>();
    for (const { id, doc, ...copy } of copies) {
      const standing = standingOf(copy);
      const before = newest.get(id);
      if (before && !isBelow(before, standing)) continue;
      const content = contentOf(of, id, of.schema.parse(doc));
      newest.set(id, { _id: id, ...content, rev: 0, ...standing });
    }
    // In one order in every replica: those that keep the same hardly wait for each other in a circle.
    const copiesInOrder = [...newest.values()].sort((one, other) => (one._id < other._id ? -1 : 1));
    const taken = await insertAbsent(stored, copiesInOrder);
    await writeAll(
      stored,
      taken.map(({ _id, epoch = 0, newest: version = 0, ...content }) => ({
        replaceOne: {
          filter: {
            _id,
            $or: [{ epoch: { $lt: epoch } }, { epoch, newest: { $lt: version } }],
          } as Filter<MongoDocument>,
          replacement: { ...content, epoch, newest: version } as MongoDocument,
        },
      })),
    );
  }

  async clear(
    of: AnyCollection | Counters,
    { above, below, limit }: Omit<Range, 'skip' | 'backwards' | 'except'>,
  ): Promise<number> {
    refuseTargets(of);
    const stored = ('fields' in of
      ? this.#countersOf(of)
      : this.#readsOf(of).stored) as unknown as MongoCollection<{ _id: string }>;
    const there = 'fields' in of ? {} : { shape: { $exists: true } };
    const some = stored.find(
      { _id: { $gt: above, $lt: below }, ...there },
      { projection: { _id: 1 }, sort: { _id: 1 }, limit },
    );
    const ids = (await some.toArray()).map(({ _id }) => _id);
    return ids.length === 0 ? 0 : (await stored.deleteMany({ _id: { $in: ids } })).deletedCount;
  }

  async sweep(): Promise<void> {
    const targets = this.#targets;
    const failures: unknown[] = [];
    const failed = (error: unknown) => failures.push(error);
    await this.#settler.sweep({ targets, counters: [...this.#counters.keys()] }).catch(failed);
    for (const { collection, stored } of this.#reads.values()) {
      const some = stored as unknown as MongoCollection<MongoTarget>;
      if (collection.expires) await this.#expire(collection, some).catch(failed);
      if (collection.kind === 'target') await this.#sweepEmpty(some).catch(failed);
    }
    if (failures.length > 0) throw new AggregateError(failures, 'The sweep was not done in whole.');
  }

  check(): Promise<void> {
    return this.#connection.check();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #make(change: AnyChange): Promise<'made' | Refusal> {
    const { in: of, set, rows = [], counters = [], events = [], below } = change;
    const reads = this.#readsOf(of);
    const id = typeof change.target === 'string' ? change.target : change.target.id;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const target =
        typeof change.target === 'string'
          ? await this.#placeOf(reads, id, set === null ? {} : keysOf(of, id, set))
          : (change.target as Read<unknown>).stored;
      if (target === undefined) return 'there';
      await this.#settler.settleTarget(of.name, target);
      await this.outbox.makeRoom(of.name, target);
      // After the place is taken, with its keys: whoever deletes what is above from now on finds it.
      if (below && !(await this.#areThere(reads, below))) {
        const [current] = typeof change.target === 'string' ? [] : await reads.find([id]);
        return typeof change.target === 'string' || current?.rev === target.rev ? 'orphan' : 'changed';
      }
      const content: Record<string, unknown> =
        set === null ? { emptyAt: new Date() } : contentOf(of, id, set);
      const unset = [...contentFields, 'emptyAt'].filter((field) => !(field in content));
      try {
        const isMade = await this.#settler.change({
          target: { in: of.name, id, rev: target.rev },
          set: content,
          unset,
          events,
          rows: rows.map((row) => this.#rowOf(row)),
          counters: counters.map(({ in: sums, id: counterId, add }) => ({
            in: this.#countersOf(sums).collectionName,
            id: counterId,
            inc: { ...add },
          })),
        });
        if (isMade) return 'made';
        if (typeof change.target !== 'string') return 'changed';
      } catch (error) {
        if (!isCommitRefused(error)) throw error;
        const taken = set === null ? undefined : await this.#takenBy(reads, id, set);
        if (taken !== undefined) return { taken };
      }
    }
    throw new Error(`Other changes of ${of.name} kept coming first.`);
  }

  /** A place for a new target, which no read shows; one that somebody else has left is taken over. */
  async #placeOf(
    reads: MongoReads<unknown>,
    id: string,
    keys: Record<string, string>,
  ): Promise<MongoTarget | undefined> {
    const { indexes = {} } = reads.collection;
    // A unique key is taken by the commit alone: otherwise a place that is given up would keep it from others.
    const ordered = Object.fromEntries(Object.entries(keys).filter(([index]) => !indexes[index]?.unique));
    const stored = reads.stored as unknown as MongoCollection<MongoTarget>;
    // Above what one that was deleted long ago ended with: late writers of its rows go by that.
    const place = { _id: id, rev: Date.now(), emptyAt: new Date(), k: ordered };
    const [taken] = await insertAbsent(stored, [place as MongoTarget]);
    if (!taken) return place as MongoTarget;
    const there = await stored.findOne({ _id: id });
    if (there?.shape !== undefined) return undefined;
    if (there)
      await stored.updateOne(
        { _id: id, rev: there.rev, shape: { $exists: false } },
        { $set: { k: ordered } },
      );
    return there ?? (await this.#placeOf(reads, id, keys));
  }

  async #areThere(
    reads: MongoReads<unknown>,
    { index, keys }: { index: string; keys: readonly string[] },
  ): Promise<boolean> {
    if (keys.length === 0) return true;
    const found = await reads.findBy(index, keys);
    return new Set(found.map(({ k }) => k?.[index])).size === new Set(keys).size;
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

  /** Takes away what has expired, but for what has events or changes on the way; of a target its place stays for a while. */
  async #expire({ kind }: AnyCollection, stored: MongoCollection<MongoTarget>): Promise<void> {
    const old = { expiresAt: { $gt: new Date(0), $lt: new Date() } };
    if (kind !== 'target') return void (await stored.deleteMany(old));
    const unset = Object.fromEntries(contentFields.map((field) => [field, '' as const]));
    await stored.updateMany({ ...old, ...isQuiet } as Filter<MongoTarget>, {
      $set: { emptyAt: new Date() },
      $unset: { ...unset, lastOp: '' },
      $inc: { rev: 1 },
    });
  }

  /** Takes away places without content that have been so for long. */
  async #sweepEmpty(stored: MongoCollection<MongoTarget>): Promise<void> {
    const emptyAt = { $gt: new Date(0), $lt: new Date(Date.now() - emptyMs) };
    await stored.deleteMany({ emptyAt, ...isQuiet } as Filter<MongoTarget>);
  }

  #settle({ name }: Counters, counter: CounterFields): Promise<boolean> | boolean {
    return !!counter.pending?.length && this.#settler.settleCounter(name, counter);
  }

  #readsOf<D>({ name }: Collection<D>): MongoReads<D> {
    const reads = this.#reads.get(name);
    if (!reads) throw new TypeError(`${name} is none of this database's collections.`);
    return reads as unknown as MongoReads<D>;
  }

  #countersOf({ name }: Counters): MongoCollection<CounterFields> {
    const counters = this.#counters.get(name);
    if (!counters) throw new TypeError(`${name} is none of this database's counters.`);
    return counters;
  }
}

function isBelow(
  { epoch = 0, newest = 0 }: Pick<MongoDocument, 'epoch' | 'newest'>,
  than: { epoch: number; newest: number },
): boolean {
  return epoch < than.epoch || (epoch === than.epoch && newest < than.newest);
}

function read<D>(of: Collection<D>, stored: MongoDocument): Read<D> {
  const { _id: id, shape = 0, d = 'null' } = stored;
  return { id, doc: asDeclared(of, JSON.parse(d), shape), stored: stored as MongoTarget };
}
