import type { OutputOf, rotateKeys } from '@kith/contracts';
import type { Command } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { printKeys } from './keys-shared.ts';

/** Makes the next key of access tokens. */
export const rotateKeysCommand: Command = {
  name: 'keys rotate',
  summary: 'make a new key for access tokens',
  help: `kith keys rotate [--json]

The new key signs once every verifier can know it. Existing tokens stay valid.`,
  reads: accessConfig,
  options: { json: { type: 'boolean' } },
  async run(given, around) {
    const { keys } = await accessPlatform(around).call<OutputOf<typeof rotateKeys>>(
      'POST',
      '/admin/keys/rotate',
      {},
    );
    printKeys(around, keys, given.options.json === true);
    return 0;
  },
};
