import { openDataFolder, readManifest, writeManifest } from '@kith/platform';
import { StartError } from '@kith/service';
import { noteRestored } from '@kith/service/documents';
import { serviceBackups } from './services.ts';

/**
 * Makes the copy that a backup is an installation of its own: from then on it may speak outwards, and what it tells counts as newer
 * than all that was told before. Throws `StartError` where there is none.
 */
export async function adopt(path: string): Promise<void> {
  const folder = openDataFolder(path);
  try {
    const manifest = readManifest(folder);
    if (!manifest || manifest.adoptedAt) throw new StartError(`${path} is not the copy that a backup is.`);
    for (const { service } of serviceBackups) {
      await noteRestored({ kind: 'sqlite', file: folder.file(`${service}.sqlite`) }, { whole: true });
    }
    writeManifest(folder, { ...manifest, adoptedAt: new Date().toISOString() });
  } finally {
    folder.release();
  }
}
