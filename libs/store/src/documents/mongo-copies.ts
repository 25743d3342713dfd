import type { Collection, Filter } from 'mongodb';
import { insertAbsent, writeAll } from '../drivers/failed-writes.ts';
import { GatheredWrites } from '../drivers/gather-writes.ts';
import type { MongoDocument } from './mongo-collection.ts';

/** A stored copy of data that another service owns. */
export type MongoCopy = MongoDocument & { epoch: number; newest: number };

/** Keeps the newest version of each copy in one collection. */
export class MongoCopies {
  readonly #stored: Collection<MongoDocument>;
  readonly #gathered = new GatheredWrites<MongoCopy>({
    writeOne: (copy) => this.#keepAll([copy]),
    writeAll: (copies) => this.#keepAll(copies),
  });

  constructor(stored: Collection<MongoDocument>) {
    this.#stored = stored;
  }

  /** Keeps copies. Single copies that arrive at the same time are stored in one write. */
  async keep(copies: readonly MongoCopy[]): Promise<void> {
    const [first] = copies;
    if (first && copies.length === 1) await this.#gathered.write(first);
    else await this.#keepAll(copies);
  }

  async #keepAll(copies: readonly MongoCopy[]): Promise<void> {
    const newest = newestOf(copies);
    // In most cases, a copy in its first version is not stored yet, and a copy in a later version replaces a stored copy. So
    // first versions are inserted, and later versions are written as replacements. A second write is needed only for copies
    // that do not follow this rule.
    const first = newest.filter((copy) => copy.newest <= 1);
    const later = newest.filter((copy) => copy.newest > 1);
    await this.#replaceOlder(await insertAbsent(this.#stored, first));
    if ((await this.#replaceOlder(later)) === later.length) return;
    await this.#replaceOlder(await insertAbsent(this.#stored, later));
  }

  /** Replaces stored copies that are older, and returns the number of replaced copies. */
  async #replaceOlder(copies: readonly MongoDocument[]): Promise<number> {
    return writeAll(
      this.#stored,
      copies.map(({ _id, epoch = 0, newest = 0, ...content }) => ({
        replaceOne: {
          filter: {
            _id,
            $or: [{ epoch: { $lt: epoch } }, { epoch, newest: { $lt: newest } }],
          } as Filter<MongoDocument>,
          replacement: { ...content, epoch, newest },
        },
      })),
    );
  }
}

/**
 * The newest copy of each id, sorted by id. Every replica uses this order, so replicas that write the same copies hardly ever
 * deadlock.
 */
function newestOf(copies: readonly MongoCopy[]): MongoCopy[] {
  const byId = new Map<string, MongoCopy>();
  for (const copy of copies) {
    const before = byId.get(copy._id);
    if (before && !isBelow(before, copy)) continue;
    byId.set(copy._id, copy);
  }
  return [...byId.values()].sort((one, other) => (one._id < other._id ? -1 : 1));
}

function isBelow(one: MongoCopy, other: MongoCopy): boolean {
  return one.epoch < other.epoch || (one.epoch === other.epoch && one.newest < other.newest);
}
