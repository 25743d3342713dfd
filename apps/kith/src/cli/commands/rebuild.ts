import {
  rebuildConnectionsProfiles,
  rebuildIdentityBlocks,
  rebuildNotificationsProfiles,
} from '@kith/contracts';
import { type Command, textOf } from '../command.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';

const paths = new Map(
  [rebuildConnectionsProfiles, rebuildNotificationsProfiles, rebuildIdentityBlocks].map(({ path }) => [
    path.slice(path.lastIndexOf('/') + 1),
    path,
  ]),
);
const names = [...paths.keys()];

/**
 * Rebuilds a service's copy of another service's data by asking the service that owns the data. If a row of the copy is newer
 * than the owner's answer, the copy keeps its row.
 */
export const rebuildCommand: Command = {
  name: 'rebuild',
  summary: 'rebuild a service’s copy of another service’s data',
  text: `COPY is one of ${names.join(', ')}. You can run it at any time, and repeat it.`,
  reads: accessConfig,
  options: {
    project: { value: 'ID', text: 'copy only what belongs to this project' },
    ...accessOptions,
  },
  words: [{ value: 'COPY', what: 'copy', choices: names }],
  async run(given, around) {
    const path = paths.get(given.words[0] ?? '') ?? '';
    const access = accessPlatform(given, around);
    const projectId = textOf(given, 'project');
    let copied = 0;
    for (let after: string | null = null; ; ) {
      const page: { copied: number; next: string | null } = await access.call('POST', path, {
        after,
        projectId,
      });
      copied += page.copied;
      after = page.next;
      if (after === null) break;
    }
    return { value: { copied }, text: `${copied} copied\n` };
  },
};
