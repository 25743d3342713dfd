import { closeFeed } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeFeed } from '../change-feed.ts';
import { closeStream } from '../feed.ts';
import type { StoredFeed } from '../store/index.ts';

/** Removes a stream from the user's open streams. If the stream is no longer among them, nothing changes. */
export const feedCloseHandler = internalHandler(closeFeed, (body, app: AppContext, context) => {
  const { projectId, userId, streamId } = body;
  const decide = (feed: StoredFeed) =>
    feed.streams.includes(streamId)
      ? { change: { feed: closeStream(feed, streamId) }, result: {} }
      : { result: {} };
  return changeFeed(app, { projectId, userId }, decide, context);
});
