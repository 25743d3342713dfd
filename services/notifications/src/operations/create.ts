import { createHash, randomUUID } from 'node:crypto';
import { failedAfterChange } from '@kith/base';
import { createNotifications, notificationCreated } from '@kith/contracts';
import { findUsers, handler, makeEvent } from '@kith/service';
import { afterChange, keepReplyMs } from '@kith/store';
import type { AppContext } from '../app.ts';
import { changeFeed } from '../change-feed.ts';
import { append, type NewNotification, toItem } from '../feed.ts';
import { notificationIdOf } from '../notification-id.ts';
import { wake } from '../wake.ts';

/**
 * Adds a notification of the application to users' feeds (spec#notifications-own). Each feed is changed separately. If the
 * request has an Idempotency-Key, the ids of the notifications are derived from the key. So a request that was only partly done
 * can be repeated, and no user gets a notification twice. Throws `gateway/timeout` if the request was only partly done.
 */
export const createHandler = handler(createNotifications, async (request, app: AppContext) => {
  const { projectId, body, idempotencyKey, serverKey } = request;
  const userIds = [...new Set(body.userIds)].sort();
  // A row of the audit log has only one target. So if the notification goes to several users, the row names none of them.
  if (userIds.length === 1) request.audit.tell({ target: `user:${userIds[0]}` });
  const users = await findUsers(app, { projectId, userIds }, request);
  const ended = await app.store.profiles.forgotten(projectId, userIds);
  const there: string[] = [];
  for (const userId of userIds) {
    if (!users.has(userId) || ended.has(userId)) continue;
    const { off } = await app.store.settings.of({ projectId, userId });
    if (!off.includes(body.type)) there.push(userId);
  }
  const createdAt = app.now();
  const seeds = seedsOf([serverKey?.keyId, idempotencyKey, JSON.stringify(body)], createdAt);
  for (const [at, userId] of there.entries()) {
    const [id = '', ...earlier] = seeds.map((seed) =>
      notificationIdOf({ projectId, id: `${seed}|${userId}` }),
    );
    const notification: NewNotification = {
      ...{ id, projectId, userId, createdAt, keepUntil: createdAt + app.keepMs },
      ...{ type: body.type, action: body.action ?? null, metadata: body.metadata ?? {} },
    };
    await add(app, notification, { earlier, deadline: request.deadline }).catch((error) => {
      throw at === 0 ? error : failedAfterChange(error);
    });
  }
  return { created: there.length };
});

/**
 * The seeds from which the ids of the notifications are made. If the request has an idempotency key, there are two seeds. One
 * is for the current period of `keepReplyMs`, and the other is for the period before. So for a day, a repeated request finds the
 * notifications that the first request has made.
 */
function seedsOf([keyId, key, body]: (string | undefined)[], now: number): string[] {
  if (key === undefined) return [randomUUID()];
  const window = Math.floor(now / keepReplyMs);
  return [window, window - 1].map((one) =>
    createHash('sha256')
      .update(JSON.stringify([keyId, key, body, one]))
      .digest('hex'),
  );
}

/**
 * Adds a notification to its user's feed. Does nothing if the feed already contains the notification under its id. Also does
 * nothing if the feed contains the notification under the id of the earlier period, and it was made within `keepReplyMs`.
 */
async function add(
  app: AppContext,
  notification: NewNotification,
  { earlier, deadline }: { earlier: readonly string[]; deadline: number },
): Promise<void> {
  const { projectId, userId, id } = notification;
  const owner = { projectId, userId };
  const decide = async (before: Parameters<typeof append>[0]) => {
    const since = app.now() - keepReplyMs;
    const found = await app.store.find(owner, [id, ...earlier]);
    if (found.some((one) => one.id === id || one.createdAt > since)) return { result: undefined };
    const { feed, entry } = append(before, notification);
    const event = makeEvent(notificationCreated, {
      projectId,
      actorId: null,
      aggregate: { type: 'feed', id: userId, seq: entry.seq },
      data: toItem(entry, feed),
      occurredAt: new Date(),
    });
    return { change: { feed, put: [entry], event }, result: undefined };
  };
  await changeFeed(app, owner, decide, { deadline });
  await afterChange(() => wake(app, owner));
}
