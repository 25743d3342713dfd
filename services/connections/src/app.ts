import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { ConnectionStore } from './store/index.ts';

/** What the handlers of this service need. */
export interface AppContext {
  store: ConnectionStore;
  /** How many times the database was restored from a backup. */
  epoch: number;
  /** For asking identity about users that this service's copy does not hold yet. */
  bus: Bus;
  /** Publishes stored events. `kick` is called after each commit that stored an event. */
  relay: Relay;
}
