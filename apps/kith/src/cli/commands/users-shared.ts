import type { OwnUser } from '@kith/contracts';
import { type Command, needed, type Surroundings } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { print } from '../table.ts';

/** Prints users as a table, or as JSON. */
export function printUsers(around: Surroundings, users: readonly OwnUser[], json: boolean): void {
  print(around, users, {
    json,
    columns: {
      id: ({ id }) => id,
      username: ({ username }) => username ?? '',
      name: ({ name }) => name ?? '',
      email: ({ email }) => email ?? '',
      'foreign id': ({ foreignId }) => foreignId ?? '',
      created: ({ createdAt }) => createdAt,
      state: ({ isActive }) => (isActive ? 'active' : 'suspended'),
    },
  });
}

/** Makes a command that does one thing to one user. */
export function userCommand(action: 'suspend' | 'restore', summary: string): Command {
  return {
    name: `users ${action}`,
    summary,
    help: `kith users ${action} ID --project ID [--json]`,
    reads: accessConfig,
    options: { project: { type: 'string' }, json: { type: 'boolean' } },
    words: ['user id'],
    async run(given, around) {
      const [projectId, userId] = [needed(given, 'project'), given.words[0] ?? ''].map(encodeURIComponent);
      const path = `/admin/projects/${projectId}/users/${userId}/${action}`;
      const user = await accessPlatform(around).call<OwnUser>('POST', path, {});
      printUsers(around, [user], given.options.json === true);
      return 0;
    },
  };
}
