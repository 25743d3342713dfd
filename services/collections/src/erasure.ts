import { type Collection, collectionDeleted, type EventEnvelope, userDeleted } from '@kith/contracts';
import { auditEventsOf, eraseEvents, subscription } from '@kith/service';
import type { AppContext } from './app.ts';
import { changed, collectionEvent, type Owner } from './collection.ts';

/** For how long after the end of an account its data is erased again: longer than any request that began before the end can take. */
const againForMs = 10 * 60_000;

/**
 * Erases the data of a deleted user: deletes the root, and the purger erases everything below it. The user stays marked for a
 * while, so that what late requests wrote, and events published since, are erased as well.
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

/** Erases again the data of users who were marked lately, and drops old marks. */
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
  // This walks over all events that the project's collections published in a week, but only when an account ends.
  const range = {
    from: `${projectId}|collection|`,
    to: `${projectId}|collection}`,
    telling: `"userId":"${userId}"`,
  };
  await eraseEvents({ bus, outbox: store.outbox }, auditEventsOf(owner));
  await eraseEvents({ bus, outbox: store.outbox }, range, { withdraw: (event) => !isEndOfAll(event) });
}

/**
 * Whether an event is the deletion of a root. It says that everything is gone and holds only ids, so consumers that lag behind
 * still have to get it.
 */
function isEndOfAll({ type, data }: EventEnvelope): boolean {
  return type === collectionDeleted.type && (data as Collection).isRoot;
}
