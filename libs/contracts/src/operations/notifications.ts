import { z } from 'zod';
import { generalList, listQuery } from '../lists.ts';
import { internalOperation, operation } from '../operation.ts';
import { jsonObject, shownText, text, timestamp, uuid, wholeNumber } from '../scalars.ts';
import { nothing, perFiveMinutes } from './shared.ts';

/** Kith's own types of notifications (spec#notifications-types). */
export const kithNotificationTypes = ['connection-request', 'connection-accepted'] as const;

const of = { id: uuid, projectId: uuid, userId: uuid };
const isRead = z.boolean();
const times = { createdAt: timestamp, updatedAt: timestamp };

/**
 * A notification from Kith. `metadata` describes the initiator at the time of the notification (spec#notifications-snapshot).
 */
export const kithNotification = z.object({
  ...of,
  type: z.enum(kithNotificationTypes),
  action: z.literal('open-profile'),
  isRead,
  metadata: z.object({
    connectionId: uuid,
    initiatorId: uuid,
    initiatorName: shownText(100).nullable(),
    initiatorUsername: shownText(30).nullable(),
    initiatorAvatar: shownText(2048).nullable(),
  }),
  ...times,
});
export type KithNotification = z.output<typeof kithNotification>;

/** A notification from an application, which chooses the type and the `metadata` (spec#notifications-own). */
export const ownNotification = z.object({
  ...of,
  type: shownText(64),
  action: shownText(200).nullable(),
  isRead,
  metadata: z.record(z.string(), z.json()),
  ...times,
});

/** Any notification to a user. */
export const appNotification = z.union([kithNotification, ownNotification]);
export type AppNotification = z.output<typeof appNotification>;

const common = { feature: 'app-notification', scope: 'project', auth: 'user' } as const;

/**
 * The caller's notifications, newest first. Under an explicit `/api/v6`, the answer is a bare array
 * (spec#notifications-list-v6).
 */
export const listNotifications = operation({
  ...common,
  name: 'notifications.list',
  summary: "List the caller's notifications",
  method: 'GET',
  path: '/app-notifications',
  limit: perFiveMinutes(50),
  params: nothing,
  query: listQuery({ limit: 5, max: 50 }),
  body: nothing,
  output: z.union([z.array(appNotification).max(50), generalList(appNotification)]),
  status: 200,
  errors: [],
});

/** How many of the caller's notifications are unread. The answer is a bare number (spec#notifications-count). */
export const countNotifications = operation({
  ...common,
  name: 'notifications.count',
  summary: 'Count unread notifications',
  method: 'GET',
  path: '/app-notifications/count',
  limit: perFiveMinutes(50),
  params: nothing,
  query: nothing,
  body: nothing,
  output: wholeNumber,
  status: 200,
  errors: [],
});

/** Marks one notification as read. Repeating the call changes nothing (spec#notifications-mark). */
export const markNotificationAsRead = operation({
  ...common,
  name: 'notifications.mark-as-read',
  summary: 'Mark a notification as read',
  method: 'PATCH',
  path: '/app-notifications/:notificationId/mark-as-read',
  limit: perFiveMinutes(100),
  params: z.object({ notificationId: uuid }),
  query: nothing,
  body: nothing,
  output: appNotification,
  status: 200,
  errors: ['app-notification/not-found'],
  invalid: { params: 'app-notification/not-found' },
});

/** Marks all unread notifications as read, and returns how many there were (spec#notifications-mark-all). */
export const markAllNotificationsAsRead = operation({
  ...common,
  name: 'notifications.mark-all-as-read',
  summary: 'Mark all notifications as read',
  method: 'PATCH',
  path: '/app-notifications/mark-all-as-read',
  limit: perFiveMinutes(20),
  params: nothing,
  query: nothing,
  body: nothing,
  output: z.object({ markedAsRead: wholeNumber }),
  status: 200,
  errors: [],
});

/**
 * Sends the caller each notification as soon as it comes, as a Server-Sent Event. The event `notification` has the notification
 * as `data`, and its feed sequence as `id`. A client resumes with this id in `Last-Event-ID`. The event `reset` says that the
 * stream cannot continue after the given id. The event `evicted` says that five newer streams of the same user are open
 * (spec#notifications-stream-resume, spec#notifications-stream-reset, spec#notifications-stream-places). The gateway serves
 * this operation. `output` is the data of one event.
 */
export const streamNotifications = operation({
  ...common,
  name: 'notifications.stream',
  summary: 'Stream notifications as they come',
  kind: 'stream',
  method: 'GET',
  path: '/app-notifications/stream',
  limit: perFiveMinutes(50),
  params: nothing,
  query: nothing,
  body: nothing,
  output: appNotification,
  status: 200,
  errors: [],
});

/**
 * Notifies users on behalf of the application's own back end. These notifications are in the same lists, counts and streams as
 * Kith's. Skips ids that belong to no user, and users who have turned the type off. Returns how many users were notified
 * (spec#notifications-create, spec#notifications-own).
 */
export const createNotifications = operation({
  ...common,
  auth: 'server-key',
  name: 'notifications.create',
  summary: 'Notify users about something in the application',
  method: 'POST',
  path: '/app-notifications',
  limit: perFiveMinutes(1000),
  params: nothing,
  query: nothing,
  body: z.object({
    userIds: z.array(uuid).min(1, 'must have at least one id.').max(100),
    type: z
      .string()
      .regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 small letters, digits or hyphens.')
      .refine(
        (type) => !(kithNotificationTypes as readonly string[]).includes(type),
        'must not be one of Kith’s own types.',
      )
      .meta({ pattern: '^[a-z0-9-]{1,64}$', maxLength: 64 }),
    action: text({ min: 1, max: 200 }).nullish(),
    metadata: jsonObject(8 * 1024).nullish(),
  }),
  output: z.object({ created: wholeNumber }),
  status: 201,
  errors: [],
});

const internal = { feature: 'app-notification', errors: [] } as const;
const stream = { projectId: uuid, userId: uuid, streamId: uuid };
/**
 * A position in a feed: the `eventOrder` of a notification. It contains the epoch, so a position from before a restore of the
 * database is recognised.
 */
const position = z.int().min(0);

/**
 * Adds a stream to the user's open streams, of which there are at most five. A sixth stream replaces the oldest. Returns the
 * position at which the feed ends now.
 */
export const openFeed = internalOperation({
  ...internal,
  name: 'notifications.feed-open',
  body: z.object(stream),
  output: z.object({ seq: position }),
});

/**
 * The items after a position of the feed, oldest first. The answer has every item up to the position `seq`. If the answer has
 * no item for a position up to `seq`, the item of this position was withdrawn. `reset` is true in three cases: `after` is
 * beyond the end of the feed, `after` is from before a restore, or the items after `after` are no longer stored. In these
 * cases, `seq` is the end of the feed. `evicted` is true if this stream was replaced by another stream.
 */
export const feedAfter = internalOperation({
  ...internal,
  name: 'notifications.feed-after',
  body: z.object({ ...stream, after: position, limit: z.int().min(1).max(100) }),
  output: z.object({
    items: z.array(z.object({ seq: position, item: appNotification })),
    seq: position,
    hasMore: z.boolean(),
    reset: z.boolean(),
    evicted: z.boolean(),
  }),
});

/** Removes a stream from the user's open streams. */
export const closeFeed = internalOperation({
  ...internal,
  name: 'notifications.feed-close',
  body: z.object(stream),
  output: nothing,
});

export const notificationOperations = [
  listNotifications,
  countNotifications,
  markNotificationAsRead,
  markAllNotificationsAsRead,
  streamNotifications,
  createNotifications,
] as const;
