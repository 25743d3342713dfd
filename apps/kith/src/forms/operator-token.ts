import { randomBytes } from 'node:crypto';
import { StartError } from '@kith/base';
import type { PlatformConfig } from './config.ts';
import type { DataFolder } from './data-folder.ts';

/** The operator's token: that of OPERATOR_TOKEN, else one made on first start and kept in the data folder. */
export function operatorToken(folder: DataFolder, configured: string | undefined): string {
  return keptSecret(folder, 'operator-token', configured);
}

/** The secret of the installation: that of KITH_SECRET, else one made on first start and kept in the data folder. Throws `StartError`. */
export function installationSecret(
  folder: DataFolder,
  { KITH_SECRET, NODE_ENV }: Pick<PlatformConfig, 'KITH_SECRET' | 'NODE_ENV'>,
): string {
  // Whoever copies the folder would copy the secret with what is sealed under it.
  if (!KITH_SECRET && NODE_ENV === 'production') {
    throw new StartError(
      `KITH_SECRET: a secret of at least 32 characters is needed in production; give it from outside of the data folder, for example with KITH_SECRET_FILE. If ${folder.file('secret')} is there, it is the one to give.`,
    );
  }
  return keptSecret(folder, 'secret', KITH_SECRET);
}

function keptSecret(folder: DataFolder, name: string, configured: string | undefined): string {
  if (configured) return configured;
  const kept = folder.read(name)?.trim();
  if (kept) return kept;
  const made = randomBytes(32).toString('base64url');
  folder.write(name, `${made}\n`);
  return made;
}
