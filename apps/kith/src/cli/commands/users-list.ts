import type { ProjectUser } from '@kith/contracts';
import { type Command, textOf } from '../command.ts';
import { projectPath } from '../paths.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { walkList } from '../walk-list.ts';
import { usersOptions, usersResult } from './users-shared.ts';

/** Lists a project's users, newest first. */
export const listUsersCommand: Command = {
  name: 'users list',
  summary: 'list a project’s users',
  reads: accessConfig,
  options: {
    query: { value: 'TEXT', text: 'only users whose username, name or e-mail address contains TEXT' },
    ...usersOptions,
  },
  async run(given, around) {
    const path = `${projectPath(textOf(given, 'project'))}/users`;
    const query = textOf(given, 'query');
    const filter = query === undefined ? undefined : { query };
    return usersResult(await walkList<ProjectUser>(accessPlatform(given, around), path, filter));
  },
};
