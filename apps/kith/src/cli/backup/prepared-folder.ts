import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { StartError } from '@kith/base';
import type { ErasureNote } from '@kith/identity';
import { isMoved } from '@kith/store/sqlite';
import type { BackupManifest } from '../../forms/backup-manifest.ts';
import { dataFolder, openDataFolder } from '../../forms/data-folder.ts';
import { readState, writeState } from '../move/state.ts';
import { beside, whole } from './whole.ts';

/** What a folder is prepared from, without the backup's folder. */
interface Inputs {
  manifest: BackupManifest;
  erased: readonly ErasureNote[] | undefined;
  /** The prefix of the databases. */
  prefix: string;
}

const noteFile = 'restoring.json';
/** What the file says of its folder. */
interface Note {
  /** The hash of the inputs. */
  inputs: string;
  applied: ErasureNote[];
}

/**
 * Prepares the folder from which databases are filled. If a killed run has left such a folder, this one uses it, but only if that run
 * had the same backup and the same list of erasures. Otherwise users whom only this list names would be back. So the folder is then
 * prepared again, and keeps the claim on the databases. Throws `StartError` if it is too late for that. Returns the erasures that
 * `prepare` has applied.
 */
export async function prepareFolder(
  path: string,
  inputs: Inputs,
  prepare: (partial: string) => Promise<ErasureNote[]>,
): Promise<ErasureNote[]> {
  const hashed = hashOf(inputs);
  const older = `${path}.older`;
  const make = async (partial: string, move?: string) => {
    const applied = await prepare(partial);
    const folder = dataFolder(partial);
    if (move !== undefined) {
      // Without a version and a fingerprint, the move copies everything again.
      const nothing = { version: '', files: '', tables: {}, isFinished: false };
      writeState(folder, { move, prefix: inputs.prefix, ...nothing });
    }
    const made: Note = { inputs: hashed, applied };
    folder.write(noteFile, `${JSON.stringify(made)}\n`);
    return applied;
  };
  if (existsSync(older)) {
    await beside(path, async () => {
      // Another run may just have put the new folder in the place of this one.
      if (!existsSync(older)) return;
      // A killed run has not done that, or has not removed this one afterwards.
      if (existsSync(path)) await rm(older, { recursive: true });
      else await rename(older, path);
    });
  }
  const kept = existsSync(path) ? dataFolder(path).read(noteFile) : undefined;
  const note = kept === undefined ? undefined : (JSON.parse(kept) as Note);
  if (note?.inputs === hashed) return note.applied;
  if (!existsSync(path)) return whole(path, (partial) => make(partial));
  // Another run may still fill the databases from this folder.
  const folder = openDataFolder(path);
  try {
    if (isMoved(folder.file('events.sqlite'))) {
      // An earlier version of Kith has left no note. All that is left to do is the hand-over, which needs no list.
      if (!note) return [];
      throw new StartError(
        `The restore from ${path} is nearly complete, with another list of erasures. Complete it with that list, or drop the databases, remove ${path}, and restore again.`,
      );
    }
    const move = readState(folder, inputs.prefix)?.move;
    return await whole(path, (partial) => make(partial, move), { replaced: older });
  } finally {
    folder.release();
  }
}

function hashOf({ manifest: { begunAt, endedAt }, erased }: Inputs): string {
  return hash('sha256', JSON.stringify([begunAt, endedAt, erased]));
}
