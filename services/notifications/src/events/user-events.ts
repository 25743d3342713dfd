import { userDeleted } from '@kith/contracts';
import { type EventSubscription, hasComeBack, subscription } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Handles the end of an account: removes the profile immediately. All other data is removed in the background
 * (spec#users-erasure).
 */
export const userEvents: EventSubscription<AppContext> = subscription({
  durable: 'notifications-users',
  events: [userDeleted],
  async apply(event, app: AppContext) {
    if (await hasComeBack(app.bus, event)) return;
    const user = { projectId: event.projectId, userId: event.data.id };
    // First removes the profile, so that notifications of late events contain nothing about the user. Then marks the user. By
    // this mark, the eraser finds the user, and it erases everything that was stored before.
    await app.store.profiles.forget(user, Date.parse(event.occurredAt));
    await app.store.erasure.mark(user, Date.now());
  },
});
