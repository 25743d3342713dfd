import { markAllNotificationsAsRead } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeFeed } from '../change-feed.ts';
import { markAll } from '../feed.ts';

/** Marks all that the caller has not read; one write, however many there are (SPEC B5). */
export const markAllAsReadHandler = handler(markAllNotificationsAsRead, (request, app: AppContext) => {
  const { projectId, caller } = request;
  return changeFeed(app, { projectId, userId: caller.userId }, (feed) => {
    const result = { markedAsRead: feed.unread };
    return feed.unread === 0 ? { result } : { change: { feed: markAll(feed, Date.now()) }, result };
  });
});
