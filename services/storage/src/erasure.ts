import { userDeleted } from '@kith/contracts';
import { auditEventsOf, eraseEvents, hasComeBack, subscription } from '@kith/service';
import { changeAccount } from './account.ts';
import type { AppContext } from './app.ts';
import type { Owner } from './file.ts';

/**
 * The data of an ended account is erased again and again for this long after the end, in ms. After this time, every upload that
 * began before the end of the account is over.
 */
export const lateMs = 20 * 60_000;

/**
 * Erases everything that a deleted user has stored. The user stays marked for `lateMs`. Until then, uploads that began before
 * the end of the account may still leave bytes and publish events, and these are erased, too.
 */
export const usersSubscription = subscription({
  durable: 'storage-users',
  events: [userDeleted],
  async apply(event, app: AppContext) {
    if (await hasComeBack(app.bus, event)) return;
    const owner = { projectId: event.projectId, userId: event.data.id };
    await app.store.erased.mark(owner, Date.now(), lateMs);
    await eraseOwner(app, owner);
  },
});

/** Erases what is stored of a user now. A repeated call erases the data that has arrived since the call before. */
export async function eraseOwner(app: AppContext, owner: Owner): Promise<void> {
  const { bus, store, blobs } = app;
  const { projectId, userId } = owner;
  const { stored } = await store.account(owner);
  if (stored) {
    await changeAccount(app, owner, (account) => store.empty(account));
    await store.erase(owner);
  }
  await store.eraseClaims(owner);
  await store.replies?.forget(owner);
  await blobs.removeAll(`${projectId}/${userId}/`);
  const range = {
    from: `${projectId}|files|${userId}|`,
    to: `${projectId}|files|${userId}}`,
    telling: `"userId":"${userId}"`,
  };
  await eraseEvents({ bus, outbox: store.outbox }, auditEventsOf(owner));
  await eraseEvents({ bus, outbox: store.outbox }, range, { withdraw: () => true });
}
