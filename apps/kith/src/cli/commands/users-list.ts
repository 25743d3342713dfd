import type { OwnUser } from '@kith/contracts';
import { type Command, needed, optional } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { walkList } from '../walk-list.ts';
import { printUsers } from './users-shared.ts';

/** Lists a project's users, newest first. */
export const listUsersCommand: Command = {
  name: 'users list',
  summary: 'list a project’s users',
  help: `kith users list --project ID [--query TEXT] [--json]

  --query TEXT  only users whose username, name or e-mail address contains TEXT`,
  reads: accessConfig,
  options: { project: { type: 'string' }, query: { type: 'string' }, json: { type: 'boolean' } },
  async run(given, around) {
    const path = `/admin/projects/${encodeURIComponent(needed(given, 'project'))}/users`;
    const query = optional(given, 'query');
    const filter = query === undefined ? undefined : { query };
    const users = await walkList<OwnUser>(accessPlatform(around), path, filter);
    printUsers(around, users, given.options.json === true);
    return 0;
  },
};
