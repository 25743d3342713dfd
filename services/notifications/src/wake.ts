import { feedSubject } from '@kith/contracts';
import type { AppContext } from './app.ts';
import type { Owner } from './feed.ts';

const nothing = new Uint8Array();

/** Wakes a user's streams. A hint: one that is lost costs time, as streams also ask on their own. */
export async function wake(app: AppContext, owner: Owner): Promise<void> {
  await app.bus.broadcast(feedSubject(app.bus.prefix, owner), nothing).catch(() => undefined);
}
