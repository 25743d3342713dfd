import { randomBytes } from 'node:crypto';
import type { DataFolder } from './data-folder.ts';

/** Returns the configured secret, or by default the secret in a file of the data folder. The first use makes this file. */
export function keptSecret(folder: DataFolder, name: string, configured: string | undefined): string {
  if (configured) return configured;
  const kept = folder.read(name)?.trim();
  if (kept) return kept;
  const made = randomBytes(32).toString('base64url');
  folder.write(name, `${made}\n`);
  return made;
}
