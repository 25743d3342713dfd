import type { OutputOf, revokeKey } from '@kith/contracts';
import type { Command } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { printKeys } from './keys-shared.ts';

/** Takes a key of access tokens out of use. */
export const revokeKeyCommand: Command = {
  name: 'keys revoke',
  summary: 'revoke a leaked signing key at once',
  help: `kith keys revoke KID [--json]

Access tokens signed with this key stop working within a second. Refresh tokens stay valid: clients refresh their
session or sign in again. A key that signs is replaced by a new one first. Prints the keys that are left.`,
  reads: accessConfig,
  options: { json: { type: 'boolean' } },
  words: ['key id'],
  async run(given, around) {
    const { keys } = await accessPlatform(around).call<OutputOf<typeof revokeKey>>(
      'POST',
      '/admin/keys/revoke',
      { kid: given.words[0] },
    );
    printKeys(around, keys, given.options.json === true);
    return 0;
  },
};
