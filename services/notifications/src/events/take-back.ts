import type { EventEnvelope } from '@kith/contracts';
import type { AppContext } from '../app.ts';
import { changeFeed } from '../change-feed.ts';
import { readAtOf, remove } from '../feed.ts';

/**
 * Takes the notification of a connection request away while it is unread, and sees to it that none is made of one
 * whose event arrives later. It is remembered for as long as that event could still make one.
 */
export async function takeBackRequest(
  app: AppContext,
  event: EventEnvelope,
  of: { connectionId: string; userIds: readonly string[] },
): Promise<void> {
  const { projectId } = event;
  const { connectionId } = of;
  await app.store.withdraw(projectId, connectionId, Date.parse(event.occurredAt) + app.keepMs);
  // A feed that was erased is not begun again.
  const ended = await app.store.profiles.forgotten(projectId, of.userIds);
  for (const userId of of.userIds.filter((one) => !ended.has(one))) {
    const owner = { projectId, userId };
    await changeFeed(app, owner, async (before) => {
      const entry = await app.store.requestOf(owner, connectionId);
      // Stored although nothing changes: whoever has looked for the withdrawal before it was there, and is about to
      // add the request, loses the race and looks again.
      if (!entry) return { change: { feed: before }, result: undefined };
      if (readAtOf(entry, before) !== null) return { result: undefined };
      return { change: { feed: remove(before, [entry]), remove: [entry] }, result: undefined };
    });
  }
}
