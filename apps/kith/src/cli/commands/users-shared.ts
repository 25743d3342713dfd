import type { OwnUser } from '@kith/contracts';
import { type Command, type Given, type Option, type Result, textOf, type Word } from '../command.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { tableOf } from '../table.ts';

export const usersOptions = {
  project: { value: 'ID', text: 'the users’ project', isNeeded: true },
  ...accessOptions,
} satisfies Record<string, Option>;

/** The one word of commands about a user. */
export const userWord: Word = { value: 'ID', what: 'user id' };

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

/** The path of the user that a command is about: its word, in the project of `--project`. */
export function userPath(given: Given): string {
  const [projectId, userId] = [textOf(given, 'project') ?? '', given.words[0] ?? ''].map(encodeURIComponent);
  return `/admin/projects/${projectId}/users/${userId}`;
}

/** Makes a command that does one thing to one user. */
export function userCommand(action: 'suspend' | 'restore', summary: string): Command {
  return {
    name: `users ${action}`,
    summary,
    reads: accessConfig,
    options: usersOptions,
    words: [userWord],
    async run(given, around) {
      const path = `${userPath(given)}/${action}`;
      return usersResult([await accessPlatform(given, around).call<OwnUser>('POST', path, {})]);
    },
  };
}
