import type { Turns } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { NotificationStore } from './store/index.ts';

/** What handlers and subscriptions need. */
export interface AppContext {
  store: NotificationStore;
  /** The epoch of the database (docs/adr/0028). */
  epoch: number;
  /** Used to wake streams, and to ask identity about users that this service's copy does not hold yet. */
  bus: Bus;
  /** The relay, which publishes stored events. Each commit that stored an event is followed by a `kick`. */
  relay: Pick<Relay, 'kick'>;
  /** If several changes of one feed have lost a race, runs these changes one after the other. */
  turns: Turns;
  /** How long a notification is kept after the event that made it, in ms. */
  keepMs: number;
  /** The clock by which notifications expire, in ms since 1970. */
  now: () => number;
}
