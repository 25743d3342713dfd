import type { OwnUser } from '@kith/contracts';
import { type Command, type Option, type Result, textOf } from '../command.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { tableOf } from '../table.ts';

export const usersOptions = {
  project: { value: 'ID', text: 'the users’ project', isNeeded: true },
  ...accessOptions,
} satisfies Record<string, Option>;

/** Shows users. */
export function usersResult(users: readonly OwnUser[]): Result {
  const text = tableOf(users, {
    id: ({ id }) => id,
    username: ({ username }) => username ?? '',
    name: ({ name }) => name ?? '',
    email: ({ email }) => email ?? '',
    'foreign id': ({ foreignId }) => foreignId ?? '',
    created: ({ createdAt }) => createdAt,
    state: ({ isActive }) => (isActive ? 'active' : 'suspended'),
  });
  return { value: users, text };
}

/** Makes a command that does one thing to one user. */
export function userCommand(action: 'suspend' | 'restore', summary: string): Command {
  return {
    name: `users ${action}`,
    summary,
    reads: accessConfig,
    options: usersOptions,
    words: [{ value: 'ID', what: 'user id' }],
    async run(given, around) {
      const ids = [textOf(given, 'project') ?? '', given.words[0] ?? ''];
      const [projectId, userId] = ids.map(encodeURIComponent);
      const path = `/admin/projects/${projectId}/users/${userId}/${action}`;
      return usersResult([await accessPlatform(given, around).call<OwnUser>('POST', path, {})]);
    },
  };
}
