import type { AppNotification } from '@kith/contracts';

/** The owner of notifications. Each notification belongs to one user of one project. */
export interface Owner {
  projectId: string;
  userId: string;
}

/** A notification that is not added to the user's feed yet. Times are Unix ms. */
export interface NewNotification extends Owner {
  id: string;
  type: AppNotification['type'];
  /** Only for notifications of an application. Notifications of Kith itself have a fixed action. */
  action?: string | null | undefined;
  metadata: AppNotification['metadata'];
  createdAt: number;
  /** The time at which the notification expires. */
  keepUntil: number;
}

/**
 * A notification that is in the feed. `readAt` is the time at which this single notification was marked as read. The
 * notification also counts as read if one of the feed's `marks` covers it.
 */
export interface Entry extends NewNotification {
  /** The feed sequence. The first notification that became visible has 1, the next one has 2, and so on. */
  seq: number;
  readAt: number | null;
}

/** At the time `at`, everything up to the feed sequence `upTo` was marked as read. */
export interface Mark {
  upTo: number;
  at: number;
}

/** The state of a user's feed. Every change of the feed's entries also changes this one record. */
export interface Feed {
  /** The last feed sequence that was assigned. */
  seq: number;
  total: number;
  unread: number;
  /**
   * The highest sequence of an expired notification. All later notifications are still there, except those that were taken
   * back.
   */
  expiredTo: number;
  /** Oldest first. */
  marks: readonly Mark[];
  /** Open streams, oldest first. */
  streams: readonly string[];
}

export const emptyFeed: Feed = { seq: 0, total: 0, unread: 0, expiredTo: 0, marks: [], streams: [] };

/** The maximum number of streams that a user may have open (spec#notifications-stream-places). */
export const maxStreams = 5;
/**
 * The maximum number of marks of a feed. If there are more, the oldest mark is dropped. The next mark also covers the
 * notifications that the dropped mark covered. So from then on, these notifications count as read at the time of the next mark.
 */
const maxMarks = 50;

/** When an entry was marked as read, alone or together with all others. Null if it is unread. */
export function readAtOf(entry: Entry, feed: Pick<Feed, 'marks'>): number | null {
  if (entry.readAt !== null) return entry.readAt;
  return feed.marks.find(({ upTo }) => entry.seq <= upTo)?.at ?? null;
}

/** Adds a notification to the feed, and gives it the next sequence. */
export function append(feed: Feed, notification: NewNotification): { feed: Feed; entry: Entry } {
  const seq = feed.seq + 1;
  return {
    feed: { ...feed, seq, total: feed.total + 1, unread: feed.unread + 1 },
    entry: { ...notification, seq, readAt: null },
  };
}

/** Removes entries from the feed. */
export function remove(feed: Feed, entries: readonly Entry[]): Feed {
  const unread = entries.filter((entry) => readAtOf(entry, feed) === null).length;
  return { ...feed, total: feed.total - entries.length, unread: feed.unread - unread };
}

/** Removes expired entries, and remembers the highest expired sequence. */
export function expire(feed: Feed, entries: readonly Entry[]): Feed {
  const expiredTo = Math.max(feed.expiredTo, ...entries.map(({ seq }) => seq));
  return { ...remove(feed, entries), expiredTo };
}

/** Marks all notifications in the feed as read. */
export function markAll(feed: Feed, at: number): Feed {
  const marks = [...feed.marks, { upTo: feed.seq, at }];
  return { ...feed, unread: 0, marks: marks.slice(-maxMarks) };
}

/**
 * Adds a stream to the feed's open streams. If there are then more than `maxStreams`, removes the oldest. If the gateway
 * repeats the request to open a stream, for example because the first answer was slow, the stream is in the list only once.
 */
export function openStream(feed: Feed, streamId: string): Feed {
  const others = closeStream(feed, streamId).streams;
  return { ...feed, streams: [...others, streamId].slice(-maxStreams) };
}

/** Removes a stream from the feed's open streams. */
export function closeStream(feed: Feed, streamId: string): Feed {
  return { ...feed, streams: feed.streams.filter((one) => one !== streamId) };
}

/** The notification as the API shows it (spec#notifications-item). */
export function toItem(entry: Entry, feed: Pick<Feed, 'marks'>): AppNotification {
  const { id, projectId, userId, type, action, metadata, createdAt } = entry;
  const readAt = readAtOf(entry, feed);
  return {
    id,
    projectId,
    userId,
    type,
    action: action === undefined ? 'open-profile' : action,
    isRead: readAt !== null,
    metadata,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(Math.max(readAt ?? createdAt, createdAt)).toISOString(),
  } as AppNotification;
}
