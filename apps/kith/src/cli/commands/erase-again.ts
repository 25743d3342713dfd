import { announcedAtOnce, announceErasures, type OutputOf } from '@kith/contracts';
import { type Command, type Given, textOf, UsageError } from '../command.ts';
import { resolvePath } from '../data-folder.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';

/** Makes identity announce again which users were erased, for services that have missed it (docs/adr/0061). */
export const eraseAgainCommand: Command = {
  name: 'erase-again',
  summary: 'erase what services still store about erased users',
  text: `Announces again that the users in the list of erasures were deleted, because a service that was away may have missed
their deletion (docs/upgrading.md). The services then erase what they still store about these users, in the background. Users
who exist again keep their data. For nine days, an import cannot use the ids of the other users. Entries about whole projects
are skipped: the deletion of a project goes on by itself, and its users have entries of their own. You can run the command at
any time, and repeat it.`,
  reads: accessConfig,
  options: {
    erased: {
      value: 'FILE',
      text: 'list of erasures (ERASURES_FILE; embedded: erasures.jsonl in the data folder)',
      isNeeded: true,
    },
    since: { value: 'TIME', text: 'only erasures from this time on: 2026-01-31T00:00:00Z' },
    project: { value: 'ID', text: 'only users of this project' },
    ...accessOptions,
  },
  async run(given, around) {
    const access = accessPlatform(given, around);
    const users = await listedUsers(given, around.env);
    const total = { announced: 0, existing: 0 };
    for (const [projectId, ids] of users) {
      const path = announceErasures.path.replace(':projectId', projectId);
      for (let at = 0; at < ids.length; at += announcedAtOnce) {
        const body = { userIds: ids.slice(at, at + announcedAtOnce) };
        const done = await access.call<OutputOf<typeof announceErasures>>('POST', path, body);
        total.announced += done.announced;
        total.existing += done.existing;
      }
    }
    const { announced, existing } = total;
    return { value: total, text: `${announced} announced, ${existing} left out because they exist\n` };
  },
};

/** The listed users by project, each user once. */
async function listedUsers(given: Given, env: NodeJS.ProcessEnv): Promise<[string, string[]][]> {
  const since = timeOf(given, 'since');
  const project = textOf(given, 'project')?.toLowerCase();
  // This code is imported only when the command runs, because it loads services and databases.
  const { readErasures } = await import('../backup/erase-again.ts');
  const users = new Map<string, Set<string>>();
  for (const { projectId, userId, at } of readErasures(resolvePath(textOf(given, 'erased') ?? '', env))) {
    if (userId === undefined || Date.parse(at) < since) continue;
    if (project !== undefined && project !== projectId) continue;
    const ids = users.get(projectId) ?? new Set();
    users.set(projectId, ids.add(userId));
  }
  return [...users].map(([projectId, ids]) => [projectId, [...ids]]);
}

/** The time of an option in Unix ms; without the option, the earliest time. */
function timeOf(given: Given, name: string): number {
  const text = textOf(given, name);
  if (text === undefined) return 0;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new UsageError(`--${name} must be a time, for example 2026-01-31T00:00:00Z.`);
  return time;
}
