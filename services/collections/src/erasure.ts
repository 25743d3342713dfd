import { type Collection, collectionDeleted, type EventEnvelope, userDeleted } from '@kith/contracts';
import { auditEventsOf, eraseEvents, subscription } from '@kith/service';
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
    if (await app.store.delete(root, deleted, event)) app.relay.kick();
  }
  const { bus, store } = app;
  await store.replies?.forget(owner);
  const { projectId, userId } = owner;
  // A walk over what a project's collections have told in a week, for an account that ends.
  const range = {
    from: `${projectId}|collection|`,
    to: `${projectId}|collection}`,
    telling: `"userId":"${userId}"`,
  };
  await eraseEvents({ bus, outbox: store.outbox }, auditEventsOf(owner));
  await eraseEvents({ bus, outbox: store.outbox }, range, { withdraw: (event) => !isEndOfAll(event) });
}

/** The end of a root says that all is gone, and holds ids alone: whoever is behind is still to get it. */
function isEndOfAll({ type, data }: EventEnvelope): boolean {
  return type === collectionDeleted.type && (data as Collection).isRoot;
}
