import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { timestamp, uuid } from '@kith/contracts';
import { z } from 'zod';

/** An erasure of a user, or without `userId` of a whole project, as it is noted for restores of backups from before it. */
export const erasureNote = z.object({ projectId: uuid, userId: uuid.optional(), at: timestamp });
export type ErasureNote = z.output<typeof erasureNote>;

const append = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY;

/**
 * The list of erasures: a line each, in a file that replicas may share. It is to lie elsewhere than the database: what loses one
 * is not to lose the other.
 */
export class ErasureList {
  readonly #path: string | undefined;

  /** @param path Absent where none is kept. */
  constructor(path?: string) {
    this.#path = path;
  }

  /** Notes an erasure, before it is made; it is on the disk then. */
  async note({ projectId, userId }: { projectId: string; userId?: string }): Promise<void> {
    if (this.#path === undefined) return;
    await using file = await open(this.#path, append, 0o600);
    // A line of its own also behind one that another process has not ended.
    await file.appendFile(`\n${JSON.stringify({ projectId, userId, at: new Date().toISOString() })}\n`);
    await file.sync();
  }
}
