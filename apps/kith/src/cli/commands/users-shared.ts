import type { ProjectUser } from '@kith/contracts';
import { type Given, type Option, type Result, type Surroundings, textOf, type Word } from '../command.ts';
import { projectPath, segmentOf } from '../paths.ts';
import { accessOptions, accessPlatform } from '../platform-access.ts';
import { tableOf } from '../table.ts';

export const usersOptions = {
  project: { value: 'ID', text: 'the users’ project', isNeeded: true },
  ...accessOptions,
} satisfies Record<string, Option>;

/** The only word that commands about a user take: the user's id. */
export const userWord: Word = { value: 'ID', what: 'user id' };

type Columns = Readonly<Record<string, (user: ProjectUser) => string>>;

/**
 * Fields that users cannot change themselves. Lists leave these fields out, because the lines of a list would become too long.
 */
const managedColumns: Columns = {
  role: ({ role }) => role,
  reputation: ({ reputation }) => String(reputation),
  verified: ({ isVerified }) => (isVerified ? 'yes' : 'no'),
};

/** Shows users. */
export function usersResult(users: readonly ProjectUser[], more: Columns = {}): Result {
  const text = tableOf(users, {
    id: ({ id }) => id,
    username: ({ username }) => username ?? '',
    name: ({ name }) => name ?? '',
    email: ({ email }) => email ?? '',
    'foreign id': ({ foreignId }) => foreignId ?? '',
    ...more,
    created: ({ createdAt }) => createdAt,
    state: ({ isActive, suspension }) =>
      isActive ? 'active' : suspension?.until ? `suspended until ${suspension.until}` : 'suspended',
  });
  return { value: users, text };
}

/** The path of the user that a command is about. The command's argument is the user's id, and `--project` names the project. */
export function userPath(given: Given): string {
  return `${projectPath(textOf(given, 'project'))}/users/${segmentOf(given.words[0])}`;
}

/** Sends a request to a path below the user's own path, and shows the changed user. */
export async function changeUser(
  given: Given,
  around: Surroundings,
  [method, path, body]: [method: string, path: string, body: object],
): Promise<Result> {
  const { call } = accessPlatform(given, around);
  const user = await call<ProjectUser>(method, `${userPath(given)}${path}`, body);
  return usersResult([user], managedColumns);
}
