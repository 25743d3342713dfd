import { countNotifications } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** How many of the caller's notifications are unread (spec#notifications-count). */
export const countHandler = handler(countNotifications, async ({ projectId, caller }, app: AppContext) => {
  const { unread } = await app.store.feed({ projectId, userId: caller.userId });
  return unread;
});
