import type { SessionInfo } from '@kith/contracts';
import type { Command } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { tableOf } from '../table.ts';
import { walkList } from '../walk-list.ts';
import { userPath, usersOptions, userWord } from './users-shared.ts';

/** Lists a user's sessions, newest first. */
export const listUserSessionsCommand: Command = {
  name: 'users sessions',
  summary: 'list a user’s sessions',
  reads: accessConfig,
  options: usersOptions,
  words: [userWord],
  async run(given, around) {
    const path = `${userPath(given)}/sessions`;
    const sessions = await walkList<Omit<SessionInfo, 'current'>>(accessPlatform(given, around), path);
    const text = tableOf(sessions, {
      id: ({ id }) => id,
      created: ({ createdAt }) => createdAt,
      'last used': ({ lastUsedAt }) => lastUsedAt,
      ip: ({ ip }) => ip ?? '',
      'user agent': ({ userAgent }) => userAgent ?? '',
    });
    return { value: sessions, text };
  },
};
