import { markAllNotificationsAsRead } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeFeed } from '../change-feed.ts';
import { markAll } from '../feed.ts';
import type { StoredFeed } from '../store/index.ts';

/**
 * Marks all unread notifications of the caller as read. This takes only one write, no matter how many there are
 * (spec#notifications-mark-all).
 */
export const markAllAsReadHandler = handler(markAllNotificationsAsRead, (request, app: AppContext) => {
  const { projectId, caller } = request;
  const decide = (feed: StoredFeed) => {
    const result = { markedAsRead: feed.unread };
    return feed.unread === 0 ? { result } : { change: { feed: markAll(feed, Date.now()) }, result };
  };
  return changeFeed(app, { projectId, userId: caller.userId }, decide, request);
});
