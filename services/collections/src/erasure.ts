import { collectionDeleted, userDeleted } from '@kith/contracts';
import { subscription } from '@kith/service';
import type { AppContext } from './app.ts';
import { changed, collectionEvent, type Owner } from './collection.ts';

/** How long after a user's end its data is looked for again: longer than any request that began before it. */
const againForMs = 10 * 60_000;

/**
 * Erases what a deleted user had: the root goes, and with it all below, by the purger. The user stays marked for a
 * while, so that what a request on its way wrote after it, and events published since, go as well.
 */
export const usersSubscription = subscription({
  durable: 'collections-users',
  events: [userDeleted],
  async apply(event, app: AppContext) {
    const owner = { projectId: event.projectId, userId: event.data.id };
    await app.store.erased.mark(owner, Date.now() + againForMs);
    await eraseOwner(app, owner);
  },
});

/** Erases again whoever was marked lately, and forgets those marked long ago. */
export async function eraseMarked(app: AppContext): Promise<void> {
  for (const owner of await app.store.erased.marked(Date.now())) await eraseOwner(app, owner);
}

async function eraseOwner(app: AppContext, owner: Owner): Promise<void> {
  for (let root = await app.store.root(owner); root; root = await app.store.root(owner)) {
    const deleted = changed(root, {});
    const event = collectionEvent(collectionDeleted, deleted);
    if (await app.store.delete(root.rev, deleted, event)) app.relay.kick();
  }
  await app.store.erased.forgetEvents(owner);
}
