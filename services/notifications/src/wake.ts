import { feedSubject } from '@kith/contracts';
import type { AppContext } from './app.ts';
import type { Owner } from './feed.ts';

const nothing = new Uint8Array();

/**
 * Wakes a user's streams. This is only a hint. Streams also ask for new notifications on their own. So a lost hint only delays
 * the notifications.
 */
export async function wake(app: AppContext, owner: Owner): Promise<void> {
  await app.bus.broadcast(feedSubject(app.bus.prefix, owner), nothing).catch(() => undefined);
}
