import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { folderIdFile, openChunks, within } from '@kith/base';
import { readStored } from '@kith/service';

/** How long to wait for the folder's disk, in ms. After this time, the service is asked for the bytes. */
const patienceMs = 1_000;

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
    const reading = () => readFile(join(this.#folder, folderIdFile), 'utf8').catch(() => undefined);
    this.#id ||= await within(reading(), patienceMs);
    return this.#id || undefined;
  }

  /** Opens the bytes that an answer names in `storedHeader`. `undefined` if they cannot be read. */
  async open(text: string): Promise<SharedBytes | undefined> {
    const { key, range, length } = readStored(text);
    // No key has such a part. It would lead to files that are not blobs.
    if (key.split('/').some((part) => part.startsWith('.'))) return undefined;
    const opening = openChunks(join(this.#folder, key), range).catch(() => undefined);
    const bytes = await within(opening, patienceMs);
    if (!bytes) void opening.then(close);
    return bytes && { bytes, length };
  }
}

/** Closes a file that was opened too late. */
async function close(bytes: AsyncIterable<Uint8Array> | undefined): Promise<void> {
  try {
    for await (const _ of bytes ?? []) break;
  } catch {
    // The file cannot be read. It is closed all the same.
  }
}
