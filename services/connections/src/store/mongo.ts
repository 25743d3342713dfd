import type { EventEnvelope } from '@kith/contracts';
import {
  type CounterFields,
  eventsIndexes,
  goneIndex,
  isMongoDuplicate,
  type MongoConnection,
  MongoOutbox,
  type MongoSchema,
  marksIndexes,
  openMongo,
  pendingIndex,
  type RowFields,
  Settler,
  type StoreConfig,
  withContent,
} from '@kith/service';
import type { Collection, Filter } from 'mongodb';
import type { LivePair } from '../act.ts';
import {
  type Entry,
  entriesChange,
  entryKey,
  listRange,
  lists,
  noTotals,
  type Totals,
  totalsChange,
} from '../listing.ts';
import { type Pair, strangers } from '../pair.ts';
import type { ConnectionStore, ImportOutcome, ListPage, ListRange } from './index.ts';
import { pairId } from './keys.ts';
import { MongoErasure, markIndexes } from './mongo-erasure.ts';
import { MongoImport } from './mongo-import.ts';
import { type PairDocument, pairIndexes, toPair } from './mongo-pair.ts';
import { MongoProfiles } from './mongo-profiles.ts';

type EdgeDocument = Entry & RowFields;
type HeadDocument = Partial<Totals> & CounterFields;

const schema: MongoSchema = {
  version: 1,
  collections: {
    pairs: pairIndexes,
    edges: [goneIndex],
    heads: [pendingIndex],
    profiles: markIndexes,
    events: eventsIndexes,
    marks: marksIndexes,
  },
};

/**
 * Rows that are skipped at once with reading the total: a list's first thousand pages are two round trips with their
 * profiles. Beyond, the total tells first whether there are so many, as skipping costs what it skips.
 */
const shallow = 20_000;
/** Most ids one question names. */
const someIds = 1_000;

/** Opens the store on MongoDB (docs/adr/0005): `pairs` are the truth, `edges` and `heads` follow by the settler. */
export async function openMongoStore(config: StoreConfig & { kind: 'mongo' }): Promise<ConnectionStore> {
  const { url, database } = config;
  return new MongoStore(await openMongo({ url, database, schema }));
}

class MongoStore implements ConnectionStore {
  readonly outbox: MongoOutbox;
  readonly profiles: MongoProfiles;
  readonly erasure: MongoErasure;
  readonly #connection: MongoConnection;
  readonly #settler: Settler;
  readonly #import: MongoImport;
  readonly #pairs: Collection<PairDocument>;
  readonly #edges: Collection<EdgeDocument>;
  readonly #heads: Collection<HeadDocument>;
  /** What pairs were made of: before its next change a pair may have to be settled and its outbox emptied. */
  readonly #read = new WeakMap<Pair, PairDocument>();

  constructor(connection: MongoConnection) {
    const { db } = connection;
    this.#connection = connection;
    this.#settler = new Settler(db);
    this.#import = new MongoImport(db, this.#settler);
    this.outbox = new MongoOutbox(db, ['pairs']);
    this.profiles = new MongoProfiles(db);
    this.erasure = new MongoErasure(db);
    this.#pairs = db.collection('pairs');
    this.#edges = db.collection('edges');
    this.#heads = db.collection('heads');
  }

  async pairOf(projectId: string, one: string, other: string): Promise<Pair> {
    const none = strangers(projectId, one, other);
    const found = await this.#pairs.findOne({ _id: pairId(none) });
    return found ? this.#toPair(found) : none;
  }

  async pairByConnection(projectId: string, connectionId: string): Promise<Pair | null> {
    const found = await this.#pairs.findOne({ projectId, connectionId });
    return found && this.#toPair(found);
  }

  async pairsWith(projectId: string, userId: string, otherIds: readonly string[]): Promise<Pair[]> {
    const ids = otherIds.map((otherId) => pairId(strangers(projectId, userId, otherId)));
    const pairs: Pair[] = [];
    for (let at = 0; at < ids.length; at += someIds) {
      const found = await this.#pairs.find({ _id: { $in: ids.slice(at, at + someIds) } }).toArray();
      pairs.push(...found.map((document) => this.#toPair(document)));
    }
    return pairs;
  }

  async blocked(after: string, limit: number): Promise<Pair[]> {
    const filter = { _id: { $gt: after }, 'blocks.0': { $exists: true } };
    const found = await this.#pairs.find(filter, { sort: { _id: 1 }, limit }).toArray();
    return found.map((document) => this.#toPair(document));
  }

  async declined(
    { projectId, userId }: { projectId: string; userId: string },
    { after, limit }: { after: string; limit: number },
  ): Promise<Pair[]> {
    const state = 'declined' as const;
    // `}` follows `|`.
    const above = `${projectId}|${after && `${after}}`}`;
    const own = `${projectId}|${userId}|`;
    // By the other's id first come the pairs in which it is the lower one.
    const halves: Filter<PairDocument>[] = [
      ...(after < userId ? [{ higher: userId, projectId, _id: { $gt: above }, state }] : []),
      { _id: { $gt: own + after, $lt: `${projectId}|${userId}}` }, state },
    ];
    const found: PairDocument[] = [];
    for (const filter of halves) {
      const left = limit - found.length;
      if (left === 0) break;
      found.push(...(await this.#pairs.find(filter, { sort: { _id: 1 }, limit: left }).toArray()));
    }
    return found.map((document) => this.#toPair(document));
  }

  async change(before: Pair, after: Pair, event: EventEnvelope): Promise<boolean> {
    const id = pairId(before);
    const read = this.#read.get(before);
    if (read) {
      await this.#settler.settleTarget('pairs', read);
      await this.outbox.makeRoom('pairs', read);
    } else {
      await this.#make(before);
    }
    const { rev: _, ...set } = after;
    const { removed, added } = entriesChange(before, after);
    return this.#settler.change({
      target: { in: 'pairs', id, rev: before.rev },
      set,
      events: [event],
      rows: [
        ...removed.map((entry) => ({ in: 'edges', id: entryKey(entry), put: null })),
        ...added.map((entry) => ({ in: 'edges', id: entryKey(entry), put: { ...entry } })),
      ],
      counters: totalsChange(before, after).map(({ ownerId, add }) => ({
        in: 'heads',
        id: `${before.projectId}|${ownerId}`,
        inc: { ...add },
      })),
    });
  }

  import(projectId: string, pairs: readonly LivePair[]): Promise<ImportOutcome[]> {
    return this.#import.add(projectId, pairs);
  }

  async list(range: ListRange): Promise<ListPage> {
    const { projectId, ownerId, from, list, without = [] } = range;
    const isDeep = 'skip' in from && from.skip > shallow;
    const read = () => Promise.all([this.#head(projectId, ownerId), isDeep ? [] : this.#entries(range)]);
    let [head, entries] = await read();
    if (await this.#settle(head)) [head, entries] = await read();
    const total = Math.max((head?.[list] ?? 0) - without.length, 0);
    if (isDeep && from.skip < total) entries = await this.#entries(range);
    return { entries, total };
  }

  async totals(projectId: string, userId: string): Promise<Totals> {
    let head = await this.#head(projectId, userId);
    if (await this.#settle(head)) head = await this.#head(projectId, userId);
    const totals = { ...noTotals };
    for (const list of lists) totals[list] = head?.[list] ?? 0;
    return totals;
  }

  sweep(): Promise<void> {
    return this.#settler.sweep({ targets: ['pairs'], counters: ['heads'] });
  }

  check(): Promise<void> {
    return this.#connection.check();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #head(projectId: string, userId: string): Promise<HeadDocument | null> {
    return this.#heads.findOne({ _id: `${projectId}|${userId}` });
  }

  /** Tells whether totals are to be read again; once is enough: what was acknowledged before is settled now. */
  async #settle(head: HeadDocument | null): Promise<boolean> {
    return !!head?.pending?.length && this.#settler.settleCounter('heads', head);
  }

  async #entries(range: ListRange): Promise<Entry[]> {
    const { from, limit, without = [] } = range;
    const keys = listRange(range);
    const first = 'after' in from ? keys.from + from.after : keys.from;
    const skip = 'skip' in from ? from.skip : 0;
    const passOver = without.length > 0 ? { $nin: [...without] } : {};
    return this.#edges
      .find(
        { _id: { $gt: first, $lt: keys.to, ...passOver }, ...withContent('projectId') },
        // All rows in one answer: a server gives 101 of its own accord.
        { sort: { _id: 1 }, skip, limit, batchSize: limit, projection: { _id: 0, rev: 0 } },
      )
      .toArray();
  }

  /** Makes the document that changes are made in; of two that do so at once, either will do. */
  async #make(pair: Pair): Promise<void> {
    try {
      await this.#pairs.insertOne({ _id: pairId(pair), ...pair });
    } catch (error) {
      if (!isMongoDuplicate(error)) throw error;
    }
  }

  #toPair(document: PairDocument): Pair {
    const pair = toPair(document);
    this.#read.set(pair, document);
    return pair;
  }
}
