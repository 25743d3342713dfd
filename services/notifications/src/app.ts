import type { Turns } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { NotificationStore } from './store/index.ts';

/** What handlers and subscriptions work with. */
export interface AppContext {
  store: NotificationStore;
  /** For waking streams, and asking identity about users the own copy does not hold yet. */
  bus: Bus;
  /** Kicked after each commit that stored an event. */
  relay: Pick<Relay, 'kick'>;
  /** Changes of one feed that have lost a race go on one after the other. */
  turns: Turns;
  /** How long a notification is kept from the event that made it, in ms. */
  keepMs: number;
  /** The time by which notifications grow old, in ms since 1970. */
  now: () => number;
}
