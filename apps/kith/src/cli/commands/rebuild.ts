import {
  rebuildConnectionsProfiles,
  rebuildIdentityBlocks,
  rebuildNotificationsProfiles,
} from '@kith/contracts';
import { type Command, UsageError } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';

const paths = new Map(
  [rebuildConnectionsProfiles, rebuildNotificationsProfiles, rebuildIdentityBlocks].map(({ path }) => [
    path.slice(path.lastIndexOf('/') + 1),
    path,
  ]),
);
const names = [...paths.keys()].join(', ');

/** Rebuilds a service's copy of another service's data, by asking the owner. What is held and newer stays. */
export const rebuildCommand: Command = {
  name: 'rebuild',
  summary: 'rebuild a service’s copy of another service’s data',
  help: `kith rebuild COPY\n\nCOPY is one of ${names}. You can run it at any time, and repeat it.`,
  reads: accessConfig,
  options: {},
  words: ['copy'],
  async run({ words }, around) {
    const path = paths.get(words[0] ?? '');
    if (path === undefined) throw new UsageError(`Name the copy: one of ${names}.`);
    const access = accessPlatform(around);
    let copied = 0;
    for (let after: string | null = null; ; ) {
      const page: { copied: number; next: string | null } = await access.call('POST', path, { after });
      copied += page.copied;
      after = page.next;
      if (after === null) break;
    }
    around.stdout.write(`${copied} copied\n`);
    return 0;
  },
};
