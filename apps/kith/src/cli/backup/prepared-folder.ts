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

/** Everything that the folder is prepared from, except the backup's folder. */
interface Inputs {
  manifest: BackupManifest;
  erased: readonly ErasureNote[] | undefined;
  /** The prefix of the databases. */
  prefix: string;
}

const noteFile = 'restoring.json';
/** The content of `noteFile`, which describes how the folder was prepared. */
interface Note {
  /** The hash of the inputs. */
  inputs: string;
  applied: ErasureNote[];
}

/**
 * Prepares the folder from which databases are filled. If a killed run with the same backup and the same list of erasures has
 * left a folder, uses this folder again. If the killed run had another list, prepares a new folder. The new folder gets the
 * move id of the old folder, because the killed run may have claimed the databases for this id. The old folder is not used,
 * because it still has the users who are only on the new list. Throws `StartError` if the folder's data was already moved.
 * Returns the erasures that `prepare` has applied.
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
      // Another run may have finished the replacement in the meantime.
      if (!existsSync(older)) return;
      // If the new folder already has its final name, only the older folder has to be removed. If not, the older folder gets
      // its name back.
      if (existsSync(path)) await rm(older, { recursive: true });
      else await rename(older, path);
    });
  }
  const kept = existsSync(path) ? dataFolder(path).read(noteFile) : undefined;
  const note = kept === undefined ? undefined : (JSON.parse(kept) as Note);
  if (note?.inputs === hashed) return note.applied;
  if (!existsSync(path)) return whole(path, (partial) => make(partial));
  // The folder is locked first, because another run may still fill the databases from it.
  const folder = openDataFolder(path);
  try {
    if (isMoved(folder.file('events.sqlite'))) {
      // A folder without a note is from an earlier version of Kith. Such a folder can be used, because the remaining steps need
      // no list of erasures.
      if (!note) return [];
      throw new StartError(
        `This restore was begun with another list of erasures and is nearly complete. Run it again with that list, or drop the databases, remove ${path}, and restore again.`,
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
