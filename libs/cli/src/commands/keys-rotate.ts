import type { OutputOf, rotateKeys } from '@kith/contracts';
import type { Command } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { print } from '../table.ts';

/** Makes the next key of access tokens. */
export const rotateKeysCommand: Command = {
  name: 'keys rotate',
  summary: 'make a new key for access tokens',
  help: `kith keys rotate [--json]

The new key signs once every verifier can know it. Nothing that was signed before stops holding.`,
  reads: accessConfig,
  options: { json: { type: 'boolean' } },
  async run(given, around) {
    const { keys } = await accessPlatform(around).call<OutputOf<typeof rotateKeys>>(
      'POST',
      '/admin/keys/rotate',
      {},
    );
    print(around, keys, {
      json: given.options.json === true,
      columns: {
        kid: ({ kid }) => kid,
        state: ({ state }) => state,
        created: ({ createdAt }) => createdAt,
        'signs from': ({ signsFrom }) => signsFrom,
      },
    });
    return 0;
  },
};
