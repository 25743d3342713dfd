import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { StartError } from '@kith/base';
import {
  flush,
  openBytes,
  type PackedEntry,
  packEntries,
  type RecordedBlob,
  sealBytes,
  unpackEntries,
} from '@kith/store/backup';
import {
  type BlobFaults,
  BlobRemoved,
  type Blobs,
  type BlobsConfig,
  openBlobs,
  readRecorded,
} from '@kith/store/blobs';
import { type BackupManifest, manifestFile, readManifest } from '../../forms/backup-manifest.ts';
import { dataFolder } from '../../forms/data-folder.ts';
import { filesIn } from '../../forms/files-of.ts';
import { secretFile } from '../../forms/installation-secret.ts';
import { dataFiles } from '../move/state.ts';
import { removeLeft } from './held-folder.ts';
import { recordedFiles } from './recorded-files.ts';
import { sealedFile } from './sealed-file.ts';

const workPrefix = 'kith-backup-';
const blobsBelow = 'files/';
/** The prefix of the entries that name removed files: files that were removed while their bytes were being sealed. */
const removedBelow = 'removed/';
const names: readonly string[] = [secretFile, ...dataFiles.map((name) => `${name}.sqlite`)];

/** Whether a folder holds a sealed backup that has not been opened yet. */
export function isSealed(folder: string): boolean {
  return existsSync(join(folder, sealedFile)) && !existsSync(join(folder, manifestFile));
}

/**
 * Makes a new folder, in memory or in an encrypted folder, for data that must not get to a disk unsealed. First removes the
 * folders that killed processes have left there. Throws `StartError`.
 */
export async function makeWork(below: string, progress: (line: string) => void): Promise<string> {
  try {
    removeLeft(below, (name) => name.startsWith(workPrefix), progress);
    return await mkdtemp(join(below, workPrefix));
  } catch (error) {
    throw noWork(below, 'cannot be used', error);
  }
}

/** Whether a file system had no room for what was written. */
export function isFull({ code, errcode = 0 }: { code?: string; errcode?: number }): boolean {
  const sqliteFull = 13;
  return code === 'ENOSPC' || (errcode & 0xff) === sqliteFull;
}

/** The error for a folder in which a sealed backup cannot be prepared. */
export function noWork(below: string, why: 'cannot be used' | 'is full', cause: unknown): StartError {
  return new StartError(
    `KITH_BACKUP_WORK: ${below} ${why}. Name a folder, in memory or encrypted, that has room for the databases.`,
    { cause },
  );
}

/** Seals a folder, and the platform's files that are recorded in its databases, into one file. */
export async function writeSealed(of: {
  work: string;
  files: BlobsConfig;
  to: string;
  passphrase: string;
  faults: BlobFaults<RecordedBlob>;
}): Promise<void> {
  const path = join(of.to, sealedFile);
  const blobs = await openBlobs(of.files, { readOnly: true });
  const entries = async function* (): AsyncGenerator<PackedEntry> {
    // The manifest comes first, so that `readSealedManifest` need not read the rest of the backup.
    for (const name of [manifestFile, ...names]) {
      const from = join(of.work, name);
      if (existsSync(from)) yield { path: name, bytes: createReadStream(from) };
    }
    const list = () => recordedFiles((service) => join(of.work, `${service}.sqlite`));
    yield* blobEntries({ list, read: (key) => blobs.read(key) }, of.faults);
  };
  try {
    const target = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    await pipeline(sealBytes(packEntries(entries()), of.passphrase), target);
  } finally {
    await blobs.close();
  }
  flush(path);
}

/**
 * The bytes of all files as entries. A file that was removed in the meantime is not in the backup. If a file is damaged, the
 * backup has those of its bytes that can be read. Reports damaged and missing bytes to `faults`.
 */
export async function* blobEntries(
  blobs: { list(): AsyncIterable<RecordedBlob>; read: Blobs['read'] },
  faults: BlobFaults<RecordedBlob>,
): AsyncGenerator<PackedEntry> {
  for await (const blob of blobs.list()) {
    const { key } = blob;
    const bytes = await readRecorded(blobs, blob, faults);
    if (!bytes) continue;
    let isRemoved = false;
    const begun = async function* () {
      try {
        yield* bytes;
      } catch (error) {
        if (!(error instanceof BlobRemoved)) throw error;
        isRemoved = true;
      }
    };
    yield { path: `${blobsBelow}${key}`, bytes: begun() };
    // An entry that is already partly written cannot be removed from the backup. So another entry says that the file was
    // removed.
    if (isRemoved) yield { path: `${removedBelow}${dirname(key)}`, bytes: nothing() };
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** The manifest of a sealed backup. Throws `StartError` if the passphrase is wrong. */
export async function readSealedManifest(
  folder: string,
  passphrase: string,
): Promise<BackupManifest | undefined> {
  for await (const { path, bytes } of entriesOf(folder, passphrase)) {
    if (path !== manifestFile) break;
    const text = (await buffer(bytes)).toString();
    return readManifest({ read: () => text, file: (name) => join(folder, name) });
  }
  return undefined;
}

/** Unpacks a sealed backup into a folder. Writes the manifest last. Throws `StartError`. */
export async function openSealed(from: string, to: string, passphrase: string): Promise<void> {
  const blobs = await openBlobs(filesIn(to));
  let manifest: Buffer | undefined;
  try {
    for await (const { path, bytes } of entriesOf(from, passphrase)) {
      if (path === manifestFile) manifest = await buffer(bytes);
      else if (names.includes(path)) await writeFile(join(to, path), bytes, { mode: 0o600, flush: true });
      else if (path.startsWith(blobsBelow)) await blobs.put(path.slice(blobsBelow.length), bytes);
      else if (path.startsWith(removedBelow)) await blobs.removeAll(`${path.slice(removedBelow.length)}/`);
    }
  } finally {
    await blobs.close();
  }
  if (!manifest) throw new StartError('The sealed backup is damaged or incomplete.');
  dataFolder(to).write(manifestFile, manifest.toString());
}

function entriesOf(folder: string, passphrase: string): AsyncGenerator<PackedEntry> {
  return unpackEntries(openBytes(createReadStream(join(folder, sealedFile)), passphrase));
}
