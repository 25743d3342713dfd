import { announceErasures } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { goneUserEvent } from '../user-events.ts';

/**
 * Publishes `user.deleted` again for those of the given users who do not exist, because a service may have missed the event
 * (docs/adr/0061). Services treat this event like the first one: they erase what they find.
 */
export const announceErasuresHandler = handler(
  announceErasures,
  async ({ params: { projectId }, body }, app: AppContext) => {
    const userIds = [...new Set(body.userIds)];
    const gone = await app.store.erasure.reserveGone(projectId, userIds);
    await app.store.outbox.restate(gone.map((userId) => goneUserEvent({ projectId, userId })));
    app.relay.kick();
    return { announced: gone.length, existing: userIds.length - gone.length };
  },
);
