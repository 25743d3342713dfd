import { feedSubject } from '@kith/contracts';
import type { AppContext } from './app.ts';
import type { Owner } from './feed.ts';

const nothing = new Uint8Array();

/**
 * Wakes a user's streams. If this message is lost, the streams get new notifications later, because they also ask for them at
 * regular intervals.
 */
export async function wake(app: AppContext, owner: Owner): Promise<void> {
  await app.bus.broadcast(feedSubject(app.bus.prefix, owner), nothing).catch(() => undefined);
}
