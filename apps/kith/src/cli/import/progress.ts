import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { StartError } from '@kith/base/config';
import { z } from 'zod';

const shape = z.object({
  projectId: z.string(),
  kind: z.string(),
  /** All lines before this position are imported or rejected. */
  offset: z.int(),
  /** The hexadecimal SHA-256 of the bytes right before the offset. The import continues only if these bytes are unchanged. */
  before: z.string(),
  line: z.int(),
  imported: z.int(),
  unchanged: z.int(),
  rejected: z.int(),
  /**
   * The length of the file of rejected lines when this progress was recorded. If the file is longer now, the additional bytes were
   * written later, and the run ended before it recorded its next progress.
   */
  rejectedBytes: z.int(),
  /** In an import of users: the line up to which the users' profiles have been copied. */
  copiedLine: z.int(),
});
/** How far the import of a file has come. This record holds no data of the file. */
export type Progress = z.output<typeof shape>;

interface Import {
  projectId: string;
  kind: string;
  size: number;
  restart: boolean;
}

/**
 * Records how far the import of a file has come, and which lines were rejected. The records are two files beside the imported file.
 * Only their owner can read them.
 */
export class ProgressFile {
  readonly #file: string;
  readonly #rejected: FileHandle;
  readonly #lock: Disposable;
  progress: Progress;

  private constructor(file: string, rejected: FileHandle, lock: Disposable, progress: Progress) {
    this.#file = file;
    this.#lock = lock;
    this.#rejected = rejected;
    this.progress = progress;
  }

  /** The file that names the rejected lines; `null` if no line was rejected. */
  get rejectedFile(): string | null {
    return this.progress.rejectedBytes > 0 ? rejectedOf(this.#file) : null;
  }

  /**
   * Opens the record of the file's import. If there is none, or with `restart`, begins a new record. Throws `StartError` if
   * another process imports the file, if the record belongs to another import, or if the part of the imported file that was
   * already read has changed.
   */
  static async open(file: string, of: Import): Promise<ProgressFile> {
    const lock = await lockImport(file);
    try {
      return await ProgressFile.#openLocked(file, of, lock);
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
  }

  static async #openLocked(
    file: string,
    { projectId, kind, size, restart }: Import,
    lock: Disposable,
  ): Promise<ProgressFile> {
    const state = stateOf(file);
    const none = {
      projectId,
      kind,
      offset: 0,
      before: '',
      line: 0,
      imported: 0,
      unchanged: 0,
      rejected: 0,
      rejectedBytes: 0,
      copiedLine: 0,
    };
    if (restart) await rm(state, { force: true });
    const kept = await readState(state);
    if (kept && (kept.projectId !== projectId || kept.kind !== kind)) {
      throw new StartError(`${state} belongs to another import; remove it, or start again with --restart.`);
    }
    if (kept && kept.offset > size) {
      throw new StartError(`${file} has become shorter since the last run; start again with --restart.`);
    }
    if (kept && kept.offset > 0 && kept.before !== (await hashBefore(file, kept.offset))) {
      throw new StartError(
        `${file} has changed since the last run; start again with --restart. Rows that exist already stay unchanged.`,
      );
    }
    const progress = kept ?? none;
    const rejected = await open(rejectedOf(file), 'a+', 0o600);
    await rejected.chmod(0o600);
    // Cuts off what was written after the last recorded progress, because it will be written again. The file may be shorter than
    // recorded, because somebody may have moved the old file away.
    progress.rejectedBytes = Math.min(progress.rejectedBytes, (await rejected.stat()).size);
    await rejected.truncate(progress.rejectedBytes);
    return new ProgressFile(file, rejected, lock, progress);
  }

  /** Stores rejected lines, and then how far the import has come. */
  async advance(
    to: Omit<Progress, 'before'>,
    rejected: readonly { line: number; reason: string; fields?: readonly string[] | undefined }[],
  ): Promise<void> {
    const text = rejected.map((one) => `${JSON.stringify(one)}\n`).join('');
    if (text) {
      await this.#rejected.appendFile(text);
      await this.#rejected.datasync();
    }
    const before = await hashBefore(this.#file, to.offset);
    const rejectedBytes = this.progress.rejectedBytes + Buffer.byteLength(text);
    this.progress = { ...to, before, rejectedBytes };
    const state = stateOf(this.#file);
    await using file = await open(`${state}.new`, 'w', 0o600);
    await file.chmod(0o600);
    await file.writeFile(`${JSON.stringify(this.progress)}\n`);
    await rename(`${state}.new`, state);
  }

  async close(): Promise<void> {
    await this.#rejected.close();
    if (this.rejectedFile === null) await rm(rejectedOf(this.#file), { force: true });
    this.#lock[Symbol.dispose]();
  }
}

const rejectedOf = (file: string) => `${file}.rejected.jsonl`;
const stateOf = (file: string) => `${file}.kith-import.json`;

/** Locks the record. The operating system removes the lock of a killed process. The lock's empty file stays. */
async function lockImport(file: string): Promise<Disposable> {
  // SQLite is loaded only when it is needed, because all commands load this file.
  const { isBusy, lockBy } = await import('../../forms/folder-lock.ts');
  const path = `${file}.kith-import.lock`;
  try {
    await writeFile(path, '', { flag: 'a', mode: 0o600 });
    return lockBy(path);
  } catch (error) {
    throw new StartError(
      isBusy(error)
        ? `Another kith import of ${file} is running, or its file system has no locks; wait until the import has ended, or copy the file to another file system.`
        : `${path} cannot be written to: ${(error as Error).message}.`,
      { cause: error },
    );
  }
}

const lookedAt = 64 * 1024;

async function hashBefore(file: string, offset: number): Promise<string> {
  await using handle = await open(file);
  const length = Math.min(lookedAt, offset);
  const { buffer, bytesRead } = await handle.read({
    buffer: Buffer.alloc(length),
    position: offset - length,
  });
  return createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex');
}

async function readState(file: string): Promise<Progress | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    throw new StartError(`${file} cannot be read; remove it, or start again with --restart.`);
  }
}
