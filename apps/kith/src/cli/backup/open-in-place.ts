import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sealedFile } from './sealed-file.ts';

/** Opens a sealed backup in the folder that a platform starts on. From then on the folder is a data folder. Throws `StartError`. */
export async function openInPlace(
  folder: string,
  env: NodeJS.ProcessEnv,
  progress: (line: string) => void,
): Promise<void> {
  if (!existsSync(join(folder, sealedFile))) return;
  const { isSealed, openSealed } = await import('./sealed.ts');
  const { passphraseFor } = await import('./passphrase.ts');
  if (isSealed(folder)) {
    await openSealed(folder, folder, await passphraseFor(folder, { options: {} }, env));
    progress('opened the sealed backup');
  }
  await rm(join(folder, sealedFile));
}
