import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { timestamp, uuid } from '@kith/contracts';
import { z } from 'zod';

/** A noted erasure of a user or, without `userId`, of a whole project. A restore from an older backup needs it. */
export const erasureNote = z.object({ projectId: uuid, userId: uuid.optional(), at: timestamp });
export type ErasureNote = z.output<typeof erasureNote>;

const append = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY;

/**
 * The list of erasures: one line for each, in a file that replicas may share. Keep it apart from the database, so that they are
 * not lost together.
 */
export class ErasureList {
  readonly #path: string | undefined;

  /** @param path Absent if no list is kept. */
  constructor(path?: string) {
    this.#path = path;
  }

  /** Notes an erasure before it is made. Resolves once the note is on the disk. */
  async note({ projectId, userId }: { projectId: string; userId?: string }): Promise<void> {
    if (this.#path === undefined) return;
    await using file = await open(this.#path, append, 0o600);
    // Begins with a line break, in case another process has left its last line unfinished.
    await file.appendFile(`\n${JSON.stringify({ projectId, userId, at: new Date().toISOString() })}\n`);
    await file.sync();
  }
}
