import { userCreated, userUpdated } from '@kith/contracts';
import { type EventSubscription, subscription } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Keeps the own copy of public users up to date; by `seq`, so that order and repeats do not matter. */
export const profileEvents: EventSubscription<AppContext> = subscription({
  durable: 'notifications-profiles',
  events: [userCreated, userUpdated],
  apply: (event, app: AppContext) => app.store.profiles.keep({ seq: event.aggregate.seq, user: event.data }),
});
