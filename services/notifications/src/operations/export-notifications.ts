import { exportNotifications } from '@kith/contracts';
import { exportPage, internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { toItem } from '../feed.ts';

/** Returns a user's notifications for an export, newest first. */
export const exportNotificationsHandler = internalHandler(
  exportNotifications,
  async (body, app: AppContext) => {
    const { projectId, userId, after, limit } = body;
    const owner = { projectId, userId };
    const feed = await app.store.feed(owner);
    const upTo = after === null ? feed.seq : Number(after) - 1;
    const entries = await app.store.newest(owner, { upTo, skip: 0, limit: limit + 1 });
    return exportPage(entries, {
      limit,
      show: (entry) => toItem(entry, feed),
      position: ({ seq }) => String(seq),
    });
  },
);
