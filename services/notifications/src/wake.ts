import { feedSubject } from '@kith/contracts';
import type { AppContext } from './app.ts';
import type { Owner } from './feed.ts';

const nothing = new Uint8Array();

/** Wakes a user's streams. This is only a hint. Streams also ask on their own, so a lost hint only delays them. */
export async function wake(app: AppContext, owner: Owner): Promise<void> {
  await app.bus.broadcast(feedSubject(app.bus.prefix, owner), nothing).catch(() => undefined);
}
