import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { timestamp, uuid } from '@kith/contracts';
import { z } from 'zod';

/**
 * A note of an erasure. It names a user or, without `userId`, a whole project. After a restore from an older backup, the notes
 * say what has to be erased again.
 */
export const erasureNote = z.object({ projectId: uuid, userId: uuid.optional(), at: timestamp });
export type ErasureNote = z.output<typeof erasureNote>;

const append = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY;

/**
 * The list of erasures, in a file with one line for each erasure. Replicas may share the file. Keep the file apart from the
 * database, so that the two are not lost together.
 */
export class ErasureList {
  readonly #path: string | undefined;

  /** @param path Absent if no list is kept. */
  constructor(path?: string) {
    this.#path = path;
  }

  /** Notes an erasure before the erasure begins. Resolves as soon as the note is on the disk. */
  async note({ projectId, userId }: { projectId: string; userId?: string }): Promise<void> {
    if (this.#path === undefined) return;
    await using file = await open(this.#path, append, 0o600);
    // Begins with a line break, in case another process has left its last line unfinished.
    await file.appendFile(`\n${JSON.stringify({ projectId, userId, at: new Date().toISOString() })}\n`);
    await file.sync();
  }
}
