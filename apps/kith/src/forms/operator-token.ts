import { randomBytes } from 'node:crypto';
import type { DataFolder } from './data-folder.ts';

/** The operator's token: that of OPERATOR_TOKEN, else one made on first start and kept in the data folder. */
export function operatorToken(folder: DataFolder, configured: string | undefined): string {
  return keptSecret(folder, 'operator-token', configured);
}

/** The secret by which services know the gateway: that of KITH_SECRET, else one made on first start and kept in the data folder. */
export function gatewaySecret(folder: DataFolder, configured: string | undefined): string {
  return keptSecret(folder, 'secret', configured);
}

function keptSecret(folder: DataFolder, name: string, configured: string | undefined): string {
  if (configured) return configured;
  const kept = folder.read(name)?.trim();
  if (kept) return kept;
  const made = randomBytes(32).toString('base64url');
  folder.write(name, `${made}\n`);
  return made;
}
