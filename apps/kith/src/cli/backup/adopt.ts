import { clocksMs, StartError } from '@kith/base';
import { noteRestored, readEpoch } from '@kith/store/open';
import { type BackupManifest, isCopy, readManifest, writeManifest } from '../../forms/backup-manifest.ts';
import { dataFolder, openDataFolder } from '../../forms/data-folder.ts';
import { serviceBackups } from '../../services.ts';
import { isSealed } from './sealed.ts';

/**
 * Turns the backup in a folder into a separate installation. From then on the installation may send things outside, for example
 * mails. Its new events count as newer than all events from before. Throws `StartError` if the folder holds no backup, or if
 * the backup was adopted already.
 *
 * Returns a time in Unix ms. Users and projects that were erased after this time may exist again, until a list of erasures is
 * applied. Unless the caller has a list (`hasList`), notes the time in the databases. If this installation is restored later
 * with a list, the restore then applies all entries of the list since the noted time.
 */
export async function adopt(path: string, { hasList = false } = {}): Promise<number> {
  // The first look is before the folder is opened, because opening it would make a folder that is missing.
  backupIn(path);
  const folder = openDataFolder(path);
  try {
    const manifest = backupIn(path);
    const epoch = await readEpoch(folder.file('identity.sqlite'));
    // An earlier version of Kith did not record whether a restore had a list of erasures. After such a restore, any erased user
    // may exist again.
    const isUntold = epoch !== undefined && epoch.number > 0 && !epoch.isTold;
    const earlier = epoch?.unerasedSince ?? (isUntold ? 0 : undefined);
    const since = earlier ?? Date.parse(manifest.begunAt) - clocksMs;
    for (const { service } of serviceBackups) {
      const file = folder.file(`${service}.sqlite`);
      const unerasedSince = hasList ? undefined : since;
      await noteRestored({ kind: 'sqlite', file }, { whole: true, unerasedSince });
    }
    writeManifest(folder, { ...manifest, adoptedAt: new Date().toISOString() });
    return since;
  } finally {
    folder.release();
  }
}

function backupIn(path: string): BackupManifest {
  if (isSealed(path))
    throw new StartError(
      `The backup in ${path} is sealed. Start Kith on it once, which opens it. Then stop Kith, and run kith adopt again.`,
    );
  const manifest = readManifest(dataFolder(path));
  if (!isCopy(manifest)) throw new StartError(`${path} holds no backup, or was adopted already.`);
  return manifest;
}
