import { eventOrder, feedAfter } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { toItem } from '../feed.ts';

/**
 * The notifications after a position of the user's feed, oldest first (spec#notifications-stream-resume). A new epoch begins
 * when the database is restored from a backup. Every position of an earlier epoch is smaller than all positions of the present
 * epoch. A client that sends such a position gets a reset, because another notification may now have the same sequence number
 * in the restored feed. Only position 0, the beginning of the feed, means the same in every epoch.
 */
export const feedAfterHandler = internalHandler(feedAfter, async (body, app: AppContext) => {
  const { projectId, userId, streamId, limit } = body;
  const orderOf = (seq: number) => eventOrder({ seq, epoch: app.epoch });
  const after = body.after === 0 ? 0 : body.after - orderOf(0);
  const owner = { projectId, userId };
  const feed = await app.store.feed(owner);
  const nothing = { items: [], seq: orderOf(feed.seq), hasMore: false, reset: false, evicted: false };
  if (!feed.streams.includes(streamId)) return { ...nothing, evicted: true };
  if (after > feed.seq || after < feed.expiredTo) return { ...nothing, reset: true };
  if (after === feed.seq) return nothing;
  const entries = await app.store.following(owner, { after, upTo: feed.seq, limit });
  const last = entries.at(-1);
  const hasMore = last !== undefined && entries.length === limit && last.seq < feed.seq;
  return {
    ...nothing,
    items: entries.map((entry) => ({ seq: orderOf(entry.seq), item: toItem(entry, feed) })),
    // If a sequence number is missing in `items`, its notification was taken back and never appears again. So `seq` is the
    // number from which the stream can continue, even if the last numbers before it are missing.
    seq: orderOf(hasMore ? last.seq : feed.seq),
    hasMore,
  };
});
