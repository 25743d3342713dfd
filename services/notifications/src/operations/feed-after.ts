import { feedAfter } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { toItem } from '../feed.ts';

/** The notifications after a sequence of the user's feed, oldest first (spec#notifications-stream-resume). */
export const feedAfterHandler = internalHandler(feedAfter, async (body, app: AppContext) => {
  const { projectId, userId, streamId, after, limit } = body;
  const owner = { projectId, userId };
  const feed = await app.store.feed(owner);
  const nothing = { items: [], seq: feed.seq, hasMore: false, reset: false, evicted: false };
  if (!feed.streams.includes(streamId)) return { ...nothing, evicted: true };
  if (after > feed.seq || after < feed.expiredTo) return { ...nothing, reset: true };
  if (after === feed.seq) return nothing;
  const entries = await app.store.following(owner, { after, upTo: feed.seq, limit });
  const last = entries.at(-1);
  const hasMore = last !== undefined && entries.length === limit && last.seq < feed.seq;
  return {
    ...nothing,
    items: entries.map((entry) => ({ seq: entry.seq, item: toItem(entry, feed) })),
    // If a sequence in between is missing, its notification was taken back. The stream need not ask for it again.
    seq: hasMore ? last.seq : feed.seq,
    hasMore,
  };
});
