// Sends people one of the application's own notifications, as the application's back end would:
//   KITH_URL=… KITH_PROJECT=… KITH_SERVER_KEY=kith_sk_… node server/announce.ts TEXT USER_ID…
// The page shows `metadata.text` (src/lib/notifications.ts), in the list and live.
import { createServerClient } from '@kith/client/server';

const { KITH_URL = 'http://127.0.0.1:8080', KITH_PROJECT = '', KITH_SERVER_KEY = '' } = process.env;
const [text, ...userIds] = process.argv.slice(2);
if (!text || userIds.length === 0 || !KITH_SERVER_KEY) {
  process.stderr.write('KITH_PROJECT=… KITH_SERVER_KEY=… node server/announce.ts TEXT USER_ID…\n');
  process.exit(2);
}

const kith = createServerClient({ url: KITH_URL, projectId: KITH_PROJECT, serverKey: KITH_SERVER_KEY });
const { created } = await kith.notifications.create({ userIds, type: 'announcement', metadata: { text } });
process.stdout.write(`${created} notified\n`);
