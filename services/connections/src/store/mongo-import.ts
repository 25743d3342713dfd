import { changeAll, type ManyChange, type Settler } from '@kith/service';
import type { Collection, Db } from 'mongodb';
import type { LivePair } from '../act.ts';
import { entriesOf, entryKey, totalsChange } from '../listing.ts';
import { strangers } from '../pair.ts';
import type { ImportOutcome } from './index.ts';
import { pairId } from './keys.ts';
import { type PairDocument, toPair } from './mongo-pair.ts';

/** Times that all pairs which are left may be lost to others; each means that somebody else has got something done. */
const attempts = 10;

/** A pair that was to be made with what is stored of it, and where it stands among those asked for. */
interface Asked {
  at: number;
  pair: LivePair;
}

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

  async add(projectId: string, pairs: readonly LivePair[]): Promise<ImportOutcome[]> {
    const outcomes: ImportOutcome[] = [];
    let left = pairs.map((pair, at): Asked => ({ at, pair }));
    for (let lost = 0; left.length > 0; ) {
      const before = left.length;
      left = await this.#addSome(projectId, left, outcomes);
      lost = left.length < before ? 0 : lost + 1;
      if (lost === attempts) throw new Error(`Pairs went on ${attempts} times while they were imported.`);
    }
    return outcomes;
  }

  /** Notes what became of pairs. Gives those lost to others, and those of a pair or id that another one is to have first. */
  async #addSome(projectId: string, asked: readonly Asked[], outcomes: ImportOutcome[]): Promise<Asked[]> {
    const [stored, taken] = await Promise.all([this.#storedOf(asked), this.#takenOf(projectId, asked)]);
    const left: Asked[] = [];
    const changes: (Asked & { change: ManyChange })[] = [];
    const awaited = new Set<string>();
    for (const one of asked) {
      const { at, pair } = one;
      const { connectionId } = pair;
      const id = pairId(pair);
      const there = stored.get(id);
      const isLater = awaited.has(id) || awaited.has(connectionId);
      if (there && !isUntouched(there)) {
        // Perhaps of a process that died in between: nobody is to be told that it is there before all of it is.
        await this.#settler.settleTarget('pairs', there);
        outcomes[at] = there.connectionId === connectionId ? toPair(there) : 'pair-taken';
        continue;
      }
      if (isLater) left.push(one);
      else if (taken.has(connectionId)) {
        outcomes[at] = 'id-taken';
        continue;
      } else changes.push({ ...one, change: changeOf(pair, there) });
      awaited.add(id).add(connectionId);
    }
    // In one order in every process, so that those with the same ids wait for each other and not in a ring.
    changes.sort((one, other) => (one.pair.connectionId < other.pair.connectionId ? -1 : 1));
    const made = await changeAll(
      this.#db,
      this.#settler,
      changes.map(({ change }) => change),
    );
    for (const [index, { at, pair }] of changes.entries()) {
      if (made[index]) outcomes[at] = 'stored';
      else left.push({ at, pair });
    }
    return left.sort((one, other) => one.at - other.at);
  }

  async #storedOf(asked: readonly Asked[]): Promise<Map<string, PairDocument>> {
    const found = await this.#pairs.find({ _id: { $in: asked.map(({ pair }) => pairId(pair)) } }).toArray();
    return new Map(found.map((document) => [document._id, document]));
  }

  /** Which of these connections' ids pairs have. */
  async #takenOf(projectId: string, asked: readonly Asked[]): Promise<Set<string>> {
    const ids = [...new Set(asked.map(({ pair }) => pair.connectionId))];
    const found = await this.#pairs
      .find({ projectId, connectionId: { $in: ids } }, { projection: { connectionId: 1 } })
      .toArray();
    return new Set(found.map(({ connectionId }) => connectionId ?? ''));
  }
}

/** Made by a change that never came about: nothing ever was between the two. */
function isUntouched({ state, seq, unsettled }: PairDocument): boolean {
  return state === 'none' && seq === 0 && unsettled === undefined;
}

function changeOf(pair: LivePair, there: PairDocument | undefined): ManyChange {
  const before = strangers(pair.projectId, pair.lower, pair.higher);
  // The others are as in `before`.
  const { projectId, lower, higher, rev, seq, blocks, ...set } = pair;
  return {
    target: { in: 'pairs', id: pairId(pair), rev: there?.rev ?? 0 },
    ...(there ? {} : { make: before }),
    set,
    rows: entriesOf(pair).map((entry) => ({ in: 'edges', id: entryKey(entry), put: { ...entry } })),
    counters: totalsChange(before, pair).map(({ ownerId, add }) => ({
      in: 'heads',
      id: `${projectId}|${ownerId}`,
      inc: { ...add },
    })),
  };
}
