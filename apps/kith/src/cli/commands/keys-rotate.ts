import type { Command } from '../command.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { keysResult } from './keys-shared.ts';

/** Makes the next key that signs access tokens. */
export const rotateKeysCommand: Command = {
  name: 'keys rotate',
  summary: 'make a new key for access tokens',
  text: 'The new key begins to sign tokens after all verifiers have had time to fetch it. Existing tokens stay valid.',
  reads: accessConfig,
  options: accessOptions,
  async run(given, around) {
    return keysResult(await accessPlatform(given, around).call('POST', '/admin/keys/rotate', {}));
  },
};
