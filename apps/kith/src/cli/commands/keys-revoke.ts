import type { Command } from '../command.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { keysResult } from './keys-shared.ts';

/** Revokes a key that signs access tokens. */
export const revokeKeyCommand: Command = {
  name: 'keys revoke',
  summary: 'revoke a leaked signing key at once',
  text: `Access tokens signed with this key stop working within a second. Refresh tokens stay valid: clients refresh their
session or sign in again. If the key is still in use for signing, a new key replaces it first. Prints the keys that are left.`,
  reads: accessConfig,
  options: accessOptions,
  words: [{ value: 'KID', what: 'key id' }],
  async run(given, around) {
    const body = { kid: given.words[0] };
    return keysResult(await accessPlatform(given, around).call('POST', '/admin/keys/revoke', body));
  },
};
