import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { folderIdFile, openChunks } from '@kith/base';
import { readStored } from '@kith/service';

/** Bytes that this gateway reads itself. Always iterate `bytes`, otherwise their file is never closed. */
export interface SharedBytes {
  bytes: AsyncIterable<Uint8Array>;
  length: number;
}

/** A folder of files that a service writes, and that this process can read, too (docs/adr/0045). */
export class SharedFolder {
  readonly #folder: string;
  #id: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The folder's id. `undefined` while there is none, because the service makes it when it starts for the first time. */
  async id(): Promise<string | undefined> {
    this.#id ||= await readFile(join(this.#folder, folderIdFile), 'utf8').catch(() => undefined);
    return this.#id || undefined;
  }

  /** Opens the bytes that an answer names in `storedHeader`. `undefined` if they cannot be read. */
  async open(text: string): Promise<SharedBytes | undefined> {
    const { key, range, length } = readStored(text);
    // No key has such a part. It would lead to files that are not blobs.
    if (key.split('/').some((part) => part.startsWith('.'))) return undefined;
    const bytes = await openChunks(join(this.#folder, key), range).catch(() => undefined);
    return bytes && { bytes, length };
  }
}
