import { userDeleted } from '@kith/contracts';
import { type EventSubscription, subscription } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Takes the end of an account in: the profile goes at once, the rest in the background (spec#users-erasure). */
export const userEvents: EventSubscription<AppContext> = subscription({
  durable: 'notifications-users',
  events: [userDeleted],
  async apply({ projectId, data }, app: AppContext) {
    const user = { projectId, userId: data.id };
    // First what makes late events say nothing, then what looks for those that came before it.
    await app.store.profiles.forget(user);
    await app.store.erasure.mark(user, Date.now());
  },
});
