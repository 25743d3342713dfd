import { ApiError } from '@kith/base';
import { type AppNotification, markNotificationAsRead } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeFeed } from '../change-feed.ts';
import { readAtOf, toItem } from '../feed.ts';
import { blanked, isKiths } from '../initiator.ts';
import type { StoredFeed } from '../store/index.ts';

/** Marks one of the caller's notifications as read. If it is read already, it stays as it is (spec#notifications-mark). */
export const markAsReadHandler = handler(
  markNotificationAsRead,
  (request, app: AppContext) => {
    const { projectId, caller, params } = request;
    const owner = { projectId, userId: caller.userId };
    const decide = async (feed: StoredFeed) => {
      const [entry] = await app.store.find(owner, [params.notificationId]);
      if (!entry) throw new ApiError('app-notification/not-found');
      if (readAtOf(entry, feed) !== null) return { result: toItem(entry, feed) };
      const read = { ...entry, readAt: Date.now() };
      return {
        change: { feed: { ...feed, unread: feed.unread - 1 }, put: [read] },
        result: toItem(read, feed),
      };
    };
    return changeFeed(app, owner, decide, request);
  },
  { replayed: withoutEnded },
);

/**
 * Removes the initiator's data from a stored answer if the initiator's account has ended meanwhile (spec#idempotency-erasure).
 * A stored answer is sent again for at most a day. The mark of an ended account is kept longer than a day, so it is always
 * found here.
 */
async function withoutEnded(item: AppNotification, { store }: AppContext): Promise<AppNotification> {
  if (!isKiths(item)) return item;
  const { projectId, metadata } = item;
  const ended = await store.profiles.forgotten(projectId, [metadata.initiatorId]);
  return ended.size === 0 ? item : { ...item, metadata: blanked(metadata) };
}
