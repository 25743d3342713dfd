import type { Turns } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { NotificationStore } from './store/index.ts';

/** What handlers and subscriptions need. */
export interface AppContext {
  store: NotificationStore;
  /** The epoch of the database (docs/adr/0028). */
  epoch: number;
  /** Used to wake streams, and to ask identity about users who are not in this service's copy of profiles yet. */
  bus: Bus;
  /** The relay, which publishes stored events. `kick` is called after each commit that has stored an event. */
  relay: Pick<Relay, 'kick'>;
  /**
   * If several changes of one feed are refused because another change came first, `turns` makes them try again one after the
   * other.
   */
  turns: Turns;
  /** How long a notification is kept, in ms, counted from the time of the event or request that made it. */
  keepMs: number;
  /** Returns the present time, in ms since 1970. It decides whether a notification has expired. */
  now: () => number;
}
