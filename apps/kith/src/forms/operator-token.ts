import { randomBytes } from 'node:crypto';
import type { DataFolder } from './data-folder.ts';

/** The operator's token: that of OPERATOR_TOKEN, else one made on first start and kept in the data folder. */
export function operatorToken(folder: DataFolder, configured: string | undefined): string {
  if (configured) return configured;
  const kept = folder.read('operator-token')?.trim();
  if (kept) return kept;
  const token = randomBytes(32).toString('base64url');
  folder.write('operator-token', `${token}\n`);
  return token;
}
