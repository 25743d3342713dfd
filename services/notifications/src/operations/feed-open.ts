import { eventOrder, openFeed } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeFeed } from '../change-feed.ts';
import { openStream } from '../feed.ts';
import type { StoredFeed } from '../store/index.ts';
import { wake } from '../wake.ts';

/**
 * Adds a stream to the user's open streams, of which there are at most five. If the oldest stream loses its place, all streams
 * of the user are woken, so that the oldest one notices this and ends (spec#notifications-stream-places).
 */
export const feedOpenHandler = internalHandler(openFeed, async (body, app: AppContext, context) => {
  const { projectId, userId, streamId } = body;
  const owner = { projectId, userId };
  const decide = (before: StoredFeed) => {
    const feed = openStream(before, streamId);
    const hasEvicted = before.streams.some((one) => !feed.streams.includes(one));
    const result = { seq: feed.seq, hasEvicted };
    return { change: { feed }, result };
  };
  const { seq, hasEvicted } = await changeFeed(app, owner, decide, context);
  if (hasEvicted) await wake(app, owner);
  return { seq: eventOrder({ seq, epoch: app.epoch }) };
});
