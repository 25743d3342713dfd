// `npm run rebuild -- <copy>`: makes a service's copy of another's data anew, by asking the owner, on a platform that
// runs (KITH_URL, OPERATOR_TOKEN). What is held and newer stays, so it can be run at any time and again.
import {
  rebuildConnectionsProfiles,
  rebuildIdentityBlocks,
  rebuildNotificationsProfiles,
} from '@kith/contracts';
import { caller } from '@kith/platform';
import { readConfig, StartError } from '@kith/service';
import { z } from 'zod';

const config = z.object({
  KITH_URL: z.url({ error: 'the address of the gateway is needed, http://host:8080' }),
  OPERATOR_TOKEN: z.string({ error: "the operator's token is needed" }),
});
const paths = [rebuildConnectionsProfiles, rebuildNotificationsProfiles, rebuildIdentityBlocks].map(
  ({ path }) => path,
);
const names = paths.map((path) => path.slice(path.lastIndexOf('/') + 1));

try {
  const at = names.indexOf(process.argv[2] ?? '');
  if (at < 0) throw new StartError(`Say which copy: ${names.join(', ')}.`);
  const { KITH_URL, OPERATOR_TOKEN: token } = readConfig(config, process.env);
  const call = caller(new URL(KITH_URL).origin);
  let copied = 0;
  for (let after: string | null = null; ; ) {
    const page: { copied: number; next: string | null } = await call('POST', paths[at] ?? '', {
      token,
      body: { after },
    });
    copied += page.copied;
    if (page.next === null) break;
    after = page.next;
  }
  console.log(`${copied} copied`);
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
}
