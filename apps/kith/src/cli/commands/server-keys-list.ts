import type { ServerKey } from '@kith/contracts';
import type { Command } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { tableOf } from '../table.ts';
import { walkList } from '../walk-list.ts';
import { serverKeysOptions, serverKeysPath } from './server-keys-shared.ts';

/** Lists a project's server keys, newest first. */
export const listServerKeysCommand: Command = {
  name: 'server-keys list',
  summary: 'list a project’s server keys',
  reads: accessConfig,
  options: serverKeysOptions,
  async run(given, around) {
    const keys = await walkList<ServerKey>(accessPlatform(given, around), serverKeysPath(given));
    const text = tableOf(keys, {
      id: ({ id }) => id,
      name: ({ name }) => name,
      created: ({ createdAt }) => createdAt,
      'last used': ({ lastUsedAt }) => lastUsedAt ?? 'never',
    });
    return { value: keys, text };
  },
};
