import { closeFeed } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changeFeed } from '../change-feed.ts';
import { closeStream } from '../feed.ts';

/** Gives a stream's place back; one that has none any more changes nothing. */
export const feedCloseHandler = internalHandler(closeFeed, (body, app: AppContext) => {
  const { projectId, userId, streamId } = body;
  return changeFeed(app, { projectId, userId }, (feed) =>
    feed.streams.includes(streamId)
      ? { change: { feed: closeStream(feed, streamId) }, result: {} }
      : { result: {} },
  );
});
