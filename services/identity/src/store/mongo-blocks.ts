import { isMongoDuplicate } from '@kith/service';
import type { Collection, Db } from 'mongodb';
import { type Block, type BlockStore, mirrorOf, rangeOf, rowsOf } from './blocks.ts';

interface BlockDocument {
  _id: string;
  otherId: string;
  isBlocked: boolean;
  seq: number;
}

/** The copy of the blocks on MongoDB. */
export class MongoBlocks implements BlockStore {
  readonly #blocks: Collection<BlockDocument>;

  constructor(db: Db) {
    this.#blocks = db.collection('blocks');
  }

  async keep(block: Block): Promise<void> {
    const { isBlocked, seq } = block;
    for (const { key, otherId } of rowsOf(block)) await this.#keepRow({ _id: key, otherId, isBlocked, seq });
  }

  async hiddenFrom(projectId: string, userId: string): Promise<string[]> {
    const rows = await this.#blocks.find({ _id: within(projectId, userId), isBlocked: true }).toArray();
    return rows.map(({ otherId }) => otherId);
  }

  async forget(projectId: string, userId: string): Promise<void> {
    const rows = await this.#blocks.find({ _id: within(projectId, userId) }).toArray();
    // The mirrors first: what is left of a process that dies here leads to them again.
    await this.#blocks.deleteMany({ _id: { $in: rows.map(({ _id }) => mirrorOf(_id)) } });
    await this.#blocks.deleteMany({ _id: within(projectId, userId) });
  }

  async #keepRow({ _id, ...row }: BlockDocument): Promise<void> {
    const replace = () => this.#blocks.replaceOne({ _id, seq: { $lt: row.seq } }, row);
    if ((await replace()).matchedCount > 0) return;
    try {
      await this.#blocks.insertOne({ _id, ...row });
    } catch (error) {
      if (!isMongoDuplicate(error)) throw error;
      // Another may have put an older one there in between.
      await replace();
    }
  }
}

function within(projectId: string, userId: string): { $gt: string; $lt: string } {
  const { from, to } = rangeOf(projectId, userId);
  return { $gt: from, $lt: to };
}
