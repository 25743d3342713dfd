import { StartError } from '@kith/base';
import { noteRestored } from '@kith/store/open';
import { readManifest, writeManifest } from '../../forms/backup-manifest.ts';
import { openDataFolder } from '../../forms/data-folder.ts';
import { serviceBackups } from '../../services.ts';
import { isSealed } from './sealed.ts';

/**
 * Turns a started backup into a separate installation. From then on the installation may send things outside, for example mails.
 * Its events count as newer than all earlier events. Throws `StartError` if the folder holds no backup, or if the backup was
 * adopted already.
 */
export async function adopt(path: string): Promise<void> {
  const folder = openDataFolder(path);
  try {
    if (isSealed(path))
      throw new StartError(`The backup in ${path} is sealed; start it before it is adopted.`);
    const manifest = readManifest(folder);
    if (!manifest || manifest.adoptedAt)
      throw new StartError(`${path} holds no backup, or was adopted already.`);
    for (const { service } of serviceBackups) {
      await noteRestored({ kind: 'sqlite', file: folder.file(`${service}.sqlite`) }, { whole: true });
    }
    writeManifest(folder, { ...manifest, adoptedAt: new Date().toISOString() });
  } finally {
    folder.release();
  }
}
