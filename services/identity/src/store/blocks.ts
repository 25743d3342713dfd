import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Documents } from '@kith/store';
import { blocks } from './collections/users.ts';
import { lastIn, userKey, within } from './keys-of.ts';

/** The two users of a block. */
export interface BlockUsers {
  projectId: string;
  blockerId: string;
  blockedId: string;
}

/**
 * Whether one user blocks another. `seq` is the position of the event that has reported the block or the end of the block
 * (`eventOrder`).
 */
export interface Block extends BlockUsers {
  isBlocked: boolean;
  seq: number;
}

const batch = 1_000;

/** Identity's own copy of the blocks; the connections service owns them. */
export class Blocks {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Stores blocks. If a stored block is as new as the given block or newer, the stored block stays. */
  async keep(...told: readonly Block[]): Promise<void> {
    const copies = told.flatMap(({ isBlocked, seq, ...block }) =>
      idsOf(block).map((id) => ({ id, doc: { isBlocked }, epoch: 0, version: seq })),
    );
    await this.#documents.keep(blocks, copies);
  }

  /**
   * The users in `among` who block the given user or are blocked by the given user. Reads only the blocks between the given
   * user and `among`, because the user may have thousands of blocks.
   */
  async hiddenFrom(projectId: string, userId: string, among: readonly string[]): Promise<Set<string>> {
    const ids = among.flatMap((otherId) => sidesOf(projectId, userId, otherId));
    const found = [...(await this.#documents.get(blocks, ids)).values()];
    return new Set(found.filter(({ doc }) => doc.isBlocked).map(({ id }) => lastIn(id)));
  }

  /**
   * Reads some rows of the copy, in the order of their ids. The rows come after the id `after`. Returns the blocks that exist
   * according to these rows. `next` is where the next page begins, or null after the last row.
   */
  async page(after: string, limit: number): Promise<{ blocks: BlockUsers[]; next: string | null }> {
    const found = await this.#documents.range(blocks, { above: after, below: '~', limit });
    const existing = found.filter(({ doc }) => doc.isBlocked).map(({ id }) => blockOf(id));
    // A page may contain both rows of a block. The result contains the block only once.
    const each = new Map(existing.map((block) => [idsOf(block).join(), block]));
    return { blocks: [...each.values()], next: found.length === limit ? (found.at(-1)?.id ?? null) : null };
  }

  /** Forgets all blocks that a user has made, and all blocks that others have made against this user. */
  async forget(projectId: string, userId: string): Promise<void> {
    for (;;) {
      const found = await this.#documents.range(blocks, { ...within(projectId, userId), limit: batch });
      if (found.length === 0) return;
      const own = found.map(({ id }) => id);
      // Erases the rows in the lists of other users first. If the process dies here, the user's own rows still lead to those
      // rows.
      await this.#documents.clearIds(blocks, own.map(mirrorOf));
      await this.#documents.clearIds(blocks, own);
      await nextTurn();
    }
  }
}

/**
 * The ids that two possible blocks have in the list of the first user. In the first block, this user blocks the other user. In
 * the second block, the other user blocks this user.
 */
function sidesOf(projectId: string, userId: string, otherId: string): string[] {
  return ['by', 'of'].map((side) => `${userKey(projectId, userId)}|${side}|${otherId}`);
}

/** The ids of a block: one id in each user's list. `by` means that the owner of the list blocks the other user. */
function idsOf({ projectId, blockerId, blockedId }: BlockUsers): string[] {
  return [`${projectId}|${blockerId}|by|${blockedId}`, `${projectId}|${blockedId}|of|${blockerId}`];
}

/** The users of the block with this id. */
function blockOf(id: string): BlockUsers {
  const [projectId = '', userId = '', side, otherId = ''] = id.split('|');
  const [blockerId, blockedId] = side === 'by' ? [userId, otherId] : [otherId, userId];
  return { projectId, blockerId, blockedId };
}

/** The id of the same block in the other user's list. */
function mirrorOf(id: string): string {
  const [projectId, userId, side, otherId] = id.split('|');
  return `${projectId}|${otherId}|${side === 'by' ? 'of' : 'by'}|${userId}`;
}
