import { changeAll, type ManyChange, type Settler } from '@kith/service';
import type { Collection, Db } from 'mongodb';
import type { LivePair } from '../act.ts';
import { entriesOf, entryKey, totalsChange } from '../listing.ts';
import { strangers } from '../pair.ts';
import type { ImportOutcome } from './index.ts';
import { pairId } from './keys.ts';
import type { PairDocument } from './mongo.ts';

/** Brings pairs in on MongoDB: changes like any other, a batch of them in each write. */
export class MongoImport {
  readonly #db: Db;
  readonly #settler: Settler;
  readonly #pairs: Collection<PairDocument>;

  constructor(db: Db, settler: Settler) {
    this.#db = db;
    this.#settler = settler;
    this.#pairs = db.collection('pairs');
  }

  async add(pairs: readonly LivePair[]): Promise<ImportOutcome[]> {
    const outcomes = new Map<LivePair, ImportOutcome>();
    const [stored, holders] = await Promise.all([this.#storedOf(pairs), this.#holdersOf(pairs)]);
    const changes: { pair: LivePair; change: ManyChange }[] = [];
    const asked = new Map<string, LivePair>();
    for (const pair of pairs) {
      const id = pairId(pair);
      const first = asked.get(id);
      const there = stored.get(id);
      if (first) outcomes.set(pair, first.connectionId === pair.connectionId ? 'there' : 'pair-taken');
      else if (there && !isUntouched(there)) {
        // Perhaps of a process that died in between: nobody is to be told that it is there before all of it is.
        await this.#settler.settleTarget('pairs', there);
        outcomes.set(pair, there.connectionId === pair.connectionId ? 'there' : 'pair-taken');
      } else if (holders.get(pair.connectionId)?.some((holder) => holder !== id)) {
        outcomes.set(pair, 'id-taken');
      } else {
        asked.set(id, pair);
        holders.set(pair.connectionId, [id]);
        changes.push({ pair, change: changeOf(pair, there) });
      }
    }
    const made = await changeAll(
      this.#db,
      this.#settler,
      changes.map(({ change }) => change),
    );
    for (const [at, { pair }] of changes.entries()) if (made[at]) outcomes.set(pair, 'stored');
    // These have got something between them since it was read; perhaps by the same rows, sent a second time.
    const lost = pairs.filter((pair) => !outcomes.has(pair));
    const now = await this.#storedOf(lost);
    for (const pair of lost) {
      const isThere = now.get(pairId(pair))?.connectionId === pair.connectionId;
      outcomes.set(pair, isThere ? 'there' : 'pair-taken');
    }
    return pairs.map((pair) => outcomes.get(pair) ?? 'there');
  }

  async #storedOf(pairs: readonly LivePair[]): Promise<Map<string, PairDocument>> {
    if (pairs.length === 0) return new Map();
    const found = await this.#pairs.find({ _id: { $in: pairs.map(pairId) } }).toArray();
    return new Map(found.map((document) => [document._id, document]));
  }

  /** Which pairs have these connections' ids. */
  async #holdersOf(pairs: readonly LivePair[]): Promise<Map<string, string[]>> {
    const ids = [...new Set(pairs.map(({ connectionId }) => connectionId))];
    const found = await this.#pairs
      .find({ connectionId: { $in: ids } }, { projection: { connectionId: 1 } })
      .toArray();
    const holders = Map.groupBy(found, ({ connectionId }) => connectionId ?? '');
    return new Map([...holders].map(([connectionId, held]) => [connectionId, held.map(({ _id }) => _id)]));
  }
}

/** Made by a change that never came about: nothing ever was between the two. */
function isUntouched({ state, seq, unsettled }: PairDocument): boolean {
  return state === 'none' && seq === 0 && unsettled === undefined;
}

function changeOf(pair: LivePair, there: PairDocument | undefined): ManyChange {
  const { rev: _, ...set } = pair;
  const before = strangers(pair.projectId, pair.lower, pair.higher);
  return {
    target: { in: 'pairs', id: pairId(pair), rev: there?.rev ?? 0 },
    ...(there ? {} : { make: before }),
    set,
    rows: entriesOf(pair).map((entry) => ({ in: 'edges', id: entryKey(entry), put: { ...entry } })),
    counters: totalsChange(before, pair).map(({ ownerId, add }) => ({
      in: 'heads',
      id: `${pair.projectId}|${ownerId}`,
      inc: { ...add },
    })),
  };
}
