import { type Collection, collectionDeleted, type EventEnvelope, userDeleted } from '@kith/contracts';
import { auditEventsOf, eraseEvents, hasComeBack, searchLate, subscription } from '@kith/service';
import type { AppContext } from './app.ts';
import { changed, collectionEvent, type Owner } from './collection.ts';

/**
 * How long data of a user may still arrive after the user's account has ended, in ms. By then, all requests that began before
 * the end of the account have finished.
 */
export const lateMs = 10 * 60_000;

/**
 * Erases the data of a deleted user. It deletes the root and the collections without a parent, and the purger erases everything
 * below them. The user stays marked for a while, because late requests may still write data and publish events. This late data
 * and these events are erased as well.
 */
export const usersSubscription = subscription({
  durable: 'collections-users',
  events: [userDeleted],
  async apply(event, app: AppContext) {
    if (await hasComeBack(app.bus, event)) return;
    const owner = { projectId: event.projectId, userId: event.data.id };
    await app.store.erased.mark(owner, Date.now(), lateMs);
    await app.store.deleteOrphans(owner);
    await eraseOwner(app, owner);
  },
});

/**
 * Erases the data that is now stored of a user. If the user was erased before, this is only data that has arrived since then.
 */
export async function eraseOwner(app: AppContext, owner: Owner): Promise<void> {
  for (let root = await app.store.root(owner); root; root = await app.store.root(owner)) {
    const deleted = changed(root, {});
    const event = collectionEvent(collectionDeleted, deleted);
    if (await app.store.delete(root, deleted, event)) app.relay.kick();
  }
  const { bus, store } = app;
  await store.forgetEnded(owner);
  await store.replies?.forget(owner);
  const { projectId, userId } = owner;
  // This range is large, because it holds all events that the project's collections published in a week.
  const range = {
    from: `${projectId}|collection|`,
    to: `${projectId}|collection}`,
    telling: `"userId":"${userId}"`,
  };
  await eraseEvents({ bus, outbox: store.outbox }, auditEventsOf(owner));
  await searchLate(store.outbox, range, (search) =>
    eraseEvents({ bus, outbox: store.outbox }, search, {
      // Leaves out events of other users' collections. The search finds such an event if the metadata of an entity contains the
      // same text as `telling`.
      only: ({ data }) => (data as Pick<Owner, 'userId'>).userId === userId,
      withdraw: (event) => !isEndOfAll(event),
    }),
  );
}

/**
 * Whether an event says that a root was deleted. Such an event is not withdrawn. It tells consumers that all collections of the
 * user are gone, and consumers that lag behind still need it. It holds only ids.
 */
function isEndOfAll({ type, data }: EventEnvelope): boolean {
  return type === collectionDeleted.type && (data as Collection).isRoot;
}
