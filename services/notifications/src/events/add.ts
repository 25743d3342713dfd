import { type EventEnvelope, type KithNotification, notificationCreated } from '@kith/contracts';
import { findUsersNow, makeEvent } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeFeed } from '../change-feed.ts';
import { append, type NewNotification, toItem } from '../feed.ts';
import { blankSnapshot, nobody } from '../initiator.ts';
import { notificationIdOf } from '../notification-id.ts';
import { wake } from '../wake.ts';

/**
 * How long to wait for an answer of identity, in ms. Events are handled one at a time, so a long wait would delay all other
 * events.
 */
const askMs = 2_000;

/**
 * Makes a notification for a user from an event. The id of the notification is derived from the event. So if the event arrives
 * again, no second notification is made. In four cases, makes no notification: if it would already have expired, if its request
 * was withdrawn, if the user's account has ended, or if the user has turned off the type. In the last case, there is no
 * notification even if the event arrives again after the user has turned on the type (spec#notifications-settings-none).
 */
export async function addNotification(
  app: AppContext,
  event: EventEnvelope,
  of: { userId: string; type: KithNotification['type']; connectionId: string; initiatorId: string },
): Promise<void> {
  const createdAt = Date.parse(event.occurredAt);
  const keepUntil = createdAt + app.keepMs;
  if (keepUntil <= app.now()) return;
  const { projectId } = event;
  const { userId, type, connectionId, initiatorId } = of;
  const owner = { projectId, userId };
  const id = notificationIdOf(event);
  const isSettled = async () => {
    const [isWithdrawn, found] = await Promise.all([
      app.store.isWithdrawn(projectId, type === 'connection-request' ? [id, connectionId] : [id]),
      app.store.find(owner, [id]),
    ]);
    return isWithdrawn || found.length > 0;
  };
  // The callback of `changeFeed` below makes the same check. This early check only saves reads. If the broker has lost its
  // record of what was delivered, it delivers all events of a week again, and most of them have already made their
  // notifications.
  if (await isSettled()) return;
  const ended = await app.store.profiles.forgotten(projectId, [userId, initiatorId]);
  if (ended.has(userId)) return;
  if ((await app.store.settings.of(owner)).off.includes(type))
    return app.store.withdraw(projectId, id, keepUntil);
  const about = ended.has(initiatorId) ? blankSnapshot : await snapshot(app, event, initiatorId);
  const metadata = { connectionId, ...about };
  const notification: NewNotification = { ...owner, id, type, metadata, createdAt, keepUntil };

  const isNew = await changeFeed(app, owner, async (before) => {
    if (await isSettled()) return { result: false };
    const { feed, entry } = append(before, notification);
    const created = makeEvent(notificationCreated, {
      projectId,
      actorId: about.initiatorId === nobody ? null : initiatorId,
      aggregate: { type: 'feed', id: userId, seq: entry.seq },
      data: toItem(entry, feed),
      occurredAt: new Date(),
    });
    return { change: { feed, put: [entry], event: created }, result: true };
  });
  if (isNew) await wake(app, owner);
}

/**
 * The initiator's current name, username and avatar (spec#notifications-snapshot); all null if identity no longer has the user.
 */
async function snapshot(app: AppContext, event: EventEnvelope, initiatorId: string) {
  const of = { projectId: event.projectId, userIds: [initiatorId] };
  const users = await findUsersNow(app, of, { requestId: event.id, deadline: Date.now() + askMs });
  const user = users.get(initiatorId);
  return {
    initiatorId,
    initiatorName: user?.name ?? null,
    initiatorUsername: user?.username ?? null,
    initiatorAvatar: user?.avatar ?? null,
  };
}
