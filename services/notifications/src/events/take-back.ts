import type { EventEnvelope } from '@kith/contracts';
import { findUsers } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeFeed } from '../change-feed.ts';
import { readAtOf, remove } from '../feed.ts';

/** How long to wait for an answer of identity, in ms. */
const askMs = 2_000;

/**
 * Removes the notification of a connection request if it is unread. If the event of the request arrives later, this event must
 * make no notification. Therefore the service stores the withdrawal, and keeps it as long as it would have kept a notification
 * of the request.
 */
export async function takeBackRequest(
  app: AppContext,
  event: EventEnvelope,
  of: { connectionId: string; userIds: readonly string[] },
): Promise<void> {
  const { projectId } = event;
  const { connectionId } = of;
  await app.store.withdraw(projectId, connectionId, Date.parse(event.occurredAt) + app.keepMs);
  // The feed of a user whose account has ended may be erased already, and must not be made again.
  const ended = await app.store.profiles.forgotten(projectId, of.userIds);
  for (const userId of of.userIds.filter((one) => !ended.has(one))) {
    const owner = { projectId, userId };
    await changeFeed(app, owner, async (before) => {
      const entry = await app.store.requestOf(owner, connectionId);
      // Stores the feed although nothing changes in it. Another process may be about to add the notification, because it looked
      // for the withdrawal too early. Because the feed is stored here, the change of that process is refused, so the process
      // looks for the withdrawal again. If there is no feed yet, a new one is stored only for a user who exists. Otherwise,
      // nothing would ever remove the feed of a user whose account ended so long ago that even its mark has expired.
      if (!entry) {
        const isOfSomebody = before.read !== undefined || (await isUser(app, event, userId));
        return { ...(isOfSomebody && { change: { feed: before } }), result: undefined };
      }
      if (readAtOf(entry, before) !== null) return { result: undefined };
      return { change: { feed: remove(before, [entry]), remove: [entry] }, result: undefined };
    });
  }
}

/** Whether a user exists in this service's copy of profiles or in identity. */
async function isUser(app: AppContext, { id, projectId }: EventEnvelope, userId: string): Promise<boolean> {
  const users = await findUsers(
    app,
    { projectId, userIds: [userId] },
    { requestId: id, deadline: Date.now() + askMs },
  );
  return users.has(userId);
}
