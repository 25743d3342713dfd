import type { DataFolder } from './data-folder.ts';
import { keptSecret } from './kept-secret.ts';

/** The operator's token: that of OPERATOR_TOKEN, else one made on first start and kept in the data folder. */
export function operatorToken(folder: DataFolder, configured: string | undefined): string {
  return keptSecret(folder, 'operator-token', configured);
}
