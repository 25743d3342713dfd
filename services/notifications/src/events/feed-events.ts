import {
  connectionAccepted,
  connectionBlocked,
  connectionRequested,
  connectionWithdrawn,
  type EventEnvelope,
  type EventOf,
  type EventSpec,
} from '@kith/contracts';
import { type EventSubscription, subscription } from '@kith/service';
import type { AppContext } from '../app.ts';
import { addNotification } from './add.ts';
import { takeBackRequest } from './take-back.ts';

/**
 * Handles the events that make or remove notifications (spec#notifications-exactly-one). The result does not depend on the
 * order of the events, or on how often each event is delivered.
 */
export const feedEvents: EventSubscription<AppContext> = subscription({
  durable: 'notifications-feed',
  events: [connectionRequested, connectionAccepted, connectionWithdrawn, connectionBlocked],
  // Events are handled one at a time. So notifications in a feed have the order of their events, even after an outage.
  atOnce: 1,
  async apply(event: EventEnvelope, app: AppContext) {
    if (is(event, connectionRequested)) {
      const { connectionId, requesterId, receiverId } = event.data;
      const of = { userId: receiverId, initiatorId: requesterId, connectionId };
      await addNotification(app, event, { ...of, type: 'connection-request' });
    } else if (is(event, connectionAccepted)) {
      const { connectionId, requesterId, receiverId } = event.data;
      const of = { userId: requesterId, initiatorId: receiverId, connectionId };
      await addNotification(app, event, { ...of, type: 'connection-accepted' });
    } else if (is(event, connectionWithdrawn)) {
      const { connectionId, receiverId } = event.data;
      await takeBackRequest(app, event, { connectionId, userIds: [receiverId] });
    } else if (is(event, connectionBlocked)) {
      // The event does not say who of the two users received the request. So the notification is removed from the feeds of
      // both.
      const { connectionId, blockerId, blockedId } = event.data;
      if (connectionId) await takeBackRequest(app, event, { connectionId, userIds: [blockerId, blockedId] });
    }
  },
});

function is<E extends EventSpec>(event: EventEnvelope, spec: E): event is EventOf<E> {
  return event.type === spec.type;
}
