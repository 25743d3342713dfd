import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CannotOpen, Secrets, StartError } from '@kith/base';
import { openDocuments, resealAll } from '@kith/store/open';
import { dataFolder } from '../../forms/data-folder.ts';
import { secretFile } from '../../forms/installation-secret.ts';
import { serviceBackups } from '../../services.ts';

/**
 * Opens the sealed data in a folder's files with `secrets`, and seals it again under the current secret of `by`. Throws
 * `StartError`.
 */
export async function resealFolder(folder: string, secrets: Secrets, by: Secrets = secrets): Promise<void> {
  for (const { service, declared, sealed = [] } of serviceBackups) {
    if (sealed.length === 0) continue;
    const documents = await openDocuments(
      { kind: 'sqlite', file: join(folder, `${service}.sqlite`) },
      declared,
    );
    try {
      await resealAll(documents, sealed, secrets, by);
    } catch (error) {
      if (!(error instanceof CannotOpen)) throw error;
      throw new StartError(
        'KITH_SECRET: the keys in the data were sealed under another secret. Set KITH_SECRET or KITH_SECRET_PREVIOUS to that secret.',
        { cause: error },
      );
    } finally {
      await documents.close();
    }
  }
}

/** Seals the keys in a backup again, under a new secret. The backup holds this new secret, but not the platform's secret. */
export async function resealForBackup(folder: string, secrets: Secrets): Promise<void> {
  const own = randomBytes(32).toString('base64url');
  await resealFolder(folder, secrets, new Secrets(own));
  dataFolder(folder).write(secretFile, `${own}\n`);
}
