import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { ApiError, StartError } from '@kith/base';
import { timestamp, uuid } from '@kith/contracts';
import { changedNothing, ifUnmade } from '@kith/store';
import { z } from 'zod';

/**
 * A note of an erasure. The note names a user. Without `userId`, it names a whole project. After a restore from an older
 * backup, the notes say what has to be erased again. A note with `withdraws` says that another erasure did not happen:
 * `withdraws` is the `id` of the note of that erasure.
 */
export const erasureNote = z.object({
  projectId: uuid,
  userId: uuid.optional(),
  at: timestamp,
  id: uuid.optional(),
  withdraws: uuid.optional(),
});
export type ErasureNote = z.output<typeof erasureNote>;

const append = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY;

/**
 * The list of erasures, in a file with one line for each erasure. Replicas may share the file. Keep the file apart from the
 * database, so that the two are not lost together.
 */
export class ErasureList {
  readonly #path: string | undefined;

  private constructor(path: string | undefined) {
    this.#path = path;
  }

  /**
   * Opens the list, or creates an empty one. So the file exists even if nothing was ever erased, and a restore can refuse a
   * wrong path. If `path` is absent, no list is kept. Throws `StartError`.
   */
  static async open(path?: string): Promise<ErasureList> {
    if (path !== undefined) {
      try {
        await (await open(path, append, 0o600)).close();
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new StartError(`ERASURES_FILE: ${path} cannot be written to (${code}).`, { cause: error });
      }
    }
    return new ErasureList(path);
  }

  /**
   * Records an erasure, and then carries it out. If `erase` fails, and its error proves that nothing was erased, the note is
   * withdrawn. If the outcome is unknown, or the process dies, the note stays: otherwise, a restore could bring back somebody
   * who was erased.
   */
  async noted<T>(erased: Pick<ErasureNote, 'projectId' | 'userId'>, erase: () => Promise<T>): Promise<T> {
    // Another request may erase the same user. Because a note is withdrawn by its id, the note of that request stays.
    const id = randomUUID();
    await this.#write({ ...erased, at: new Date().toISOString(), id });
    // If this write fails, the note stays, and the caller still gets the error of the erasure.
    const withdraw = () =>
      this.#write({ ...erased, at: new Date().toISOString(), withdraws: id }).catch(() => {});
    // With an `Idempotency-Key`, the erasure is made only after `erase` has ended. If it fails then, `ifUnmade` withdraws the
    // note.
    const isHeld = ifUnmade(withdraw);
    try {
      return await erase();
    } catch (error) {
      // `eraseAccount` throws this error only if it has not deleted the account.
      const isRefused = error instanceof ApiError && error.code === 'auth/unauthorized';
      if (!isHeld && (isRefused || changedNothing(error))) await withdraw();
      throw error;
    }
  }

  /** Adds a note. Resolves as soon as the note is on the disk. */
  async #write(note: ErasureNote): Promise<void> {
    if (this.#path === undefined) return;
    await using file = await open(this.#path, append, 0o600);
    // The note begins with a line break, in case another process has left its last line unfinished.
    await file.appendFile(`\n${JSON.stringify(note)}\n`);
    await file.sync();
  }
}
