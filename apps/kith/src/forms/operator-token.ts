import type { DataFolder } from './data-folder.ts';
import { keptSecret } from './kept-secret.ts';

/**
 * The operator's token: OPERATOR_TOKEN, or by default the token in the data folder. The first start makes the default token.
 */
export function operatorToken(folder: DataFolder, configured: string | undefined): string {
  return keptSecret(folder, 'operator-token', configured);
}
