import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  access,
  type FileHandle,
  mkdir,
  open,
  opendir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { folderIdFile, openChunks, StartError } from '@kith/base';
import { BlobDamaged, type BlobEntry, type Blobs, type ByteRange, checkKey } from './blobs.ts';
import { eachChunk } from './each-chunk.ts';
import { sweepFolder } from './sweep-folder.ts';

/** The subfolder for blobs that are not complete yet. It cannot clash with a key, because no key begins with a dot. */
const unfinished = '.unfinished';
/** The maximum number of tries to give a blob its name. A try fails if another call has just removed the folder of the blob. */
const mostTries = 20;

/** Keeps blobs in a folder, one file each. A file gets its final name only when all of it is on the disk. */
export class FolderBlobs implements Blobs {
  readonly folderId: string | undefined;
  readonly #folder: string;

  private constructor(folder: string, folderId?: string) {
    // `dirname` never returns a path that ends with `/`, so `#folder` must not end with `/` either.
    this.#folder = resolve(folder);
    this.folderId = folderId;
  }

  /**
   * Makes the folder if it is not there yet. With `readOnly`, writes nothing, and a missing folder counts as empty. Throws
   * `StartError`.
   */
  static async open(folder: string, { readOnly = false } = {}): Promise<FolderBlobs> {
    try {
      if (!readOnly) await mkdir(join(folder, unfinished), { recursive: true, mode: 0o700 });
      await access(folder, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK);
      return new FolderBlobs(folder, await idOf(folder, { readOnly }));
    } catch (error) {
      if (readOnly && isMissing(error)) return new FolderBlobs(folder);
      const { code } = error as NodeJS.ErrnoException;
      throw new StartError(`The folder ${folder} for files cannot be used (${code}).`, { cause: error });
    }
  }

  async put(
    key: string,
    source: AsyncIterable<Uint8Array>,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<number> {
    const path = this.#path(key);
    const draft = join(this.#folder, unfinished, randomUUID());
    try {
      const size = await writeWhole(draft, source, signal);
      await this.#name(draft, path);
      await this.#syncFolders(dirname(path));
      return size;
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  async read(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined> {
    const reasonFor = (error: unknown) => this.#reasonFor(error, key);
    try {
      return await openChunks(this.#path(key), range, reasonFor);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw await reasonFor(error);
    }
  }

  async removeAll(prefix: string): Promise<void> {
    const path = this.#path(prefix);
    await rm(path, { recursive: true, force: true });
    await this.#removeEmpty(dirname(path));
  }

  async *list(prefix = ''): AsyncGenerator<BlobEntry> {
    yield* entriesBelow(prefix === '' ? this.#folder : this.#path(prefix), prefix);
  }

  async sweep(ms: number): Promise<void> {
    await sweepFolder(join(this.#folder, unfinished), ms);
  }

  async check(): Promise<void> {
    await access(join(this.#folder, unfinished), constants.W_OK);
  }

  async close(): Promise<void> {}

  async #name(draft: string, path: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        return await rename(draft, path);
      } catch (error) {
        // `rename` fails if another call has removed the folder, or a folder above it, because that folder was still empty.
        // `mkdir` can fail too, if a folder that it has just found is removed at that moment.
        if (!isMissing(error) || tries === mostTries) throw error;
      }
    }
  }

  /** The error for a reader whose blob could not be read. If the disk cannot read the store's folder either, the disk is gone. */
  async #reasonFor(error: unknown, key: string): Promise<unknown> {
    if ((error as NodeJS.ErrnoException).code !== 'EIO') return error;
    try {
      for await (const _ of await opendir(this.#folder)) break;
    } catch {
      return error;
    }
    return new BlobDamaged(`The disk cannot read the blob ${key}.`, { cause: error });
  }

  #path(key: string): string {
    const path = checkKey(key).replace(/\/$/, '');
    return join(this.#folder, ...path.split('/'));
  }

  /**
   * Syncs a folder and all folders above it, up to the store's folder, so that the name of a new file survives a power failure.
   * A folder above may contain a new folder, so it must be synced too.
   */
  async #syncFolders(path: string): Promise<void> {
    const folders: string[] = [];
    for (let at = path; at.length >= this.#folder.length; at = dirname(at)) folders.push(at);
    await Promise.all(folders.map(syncFolder));
  }

  async #removeEmpty(path: string): Promise<void> {
    for (let at = path; at.length > this.#folder.length; at = dirname(at)) {
      // `rmdir` refuses a folder that is not empty. In that case, this folder and the folders above it stay.
      const failure = await rmdir(at).catch((error: Error) => error);
      if (failure && !isMissing(failure)) return;
    }
  }
}

/** Reads the id of a folder. Without `readOnly`, makes the id if there is none. */
async function idOf(folder: string, { readOnly }: { readOnly: boolean }): Promise<string | undefined> {
  const path = join(folder, folderIdFile);
  if (!readOnly) {
    await writeFile(path, randomUUID(), { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  const id = await readFile(path, 'utf8').catch((error: unknown) => {
    if (!readOnly) throw error;
  });
  // If another process is just making the id, the file may still be empty. Then the folder counts as one without an id.
  return id || undefined;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } catch (error) {
    // Some systems cannot sync folders.
    if (!['EINVAL', 'EPERM', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    await folder.close();
  }
}

async function writeWhole(
  path: string,
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<number> {
  // The draft is opened before the source is read. So if the source fails, the draft exists, and the caller can remove it.
  const draft = await open(path, 'wx', 0o600);
  try {
    let size = 0;
    await eachChunk(source, signal, async (chunk) => {
      await writeAll(draft, chunk);
      size += chunk.length;
    });
    await draft.sync();
    return size;
  } finally {
    await draft.close();
  }
}

/**
 * The number of bytes in a write. For longer writes, Linux takes larger pieces of free memory. In a virtual machine, the host may
 * first have to provide this memory, which takes longer than the write itself (docs/adr/0045).
 */
const writeBytes = 64 * 1024;

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) {
    at += (await file.write(chunk, at, Math.min(writeBytes, chunk.length - at))).bytesWritten;
  }
}

async function* entriesBelow(folder: string, prefix: string): AsyncGenerator<BlobEntry> {
  const entries = await opendir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  for await (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* entriesBelow(path, `${prefix}${entry.name}/`);
    else {
      // The file may have been removed since the folder was read.
      const found = await stat(path).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      if (found) yield { key: `${prefix}${entry.name}`, size: found.size };
    }
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
