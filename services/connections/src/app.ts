import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { ConnectionStore } from './store/index.ts';

/** What the handlers need. */
export interface AppContext {
  store: ConnectionStore;
  /** How often the database was restored from a backup. */
  epoch: number;
  /** For asking identity about users that this service's copy does not hold yet. */
  bus: Bus;
  /** Kicked after each commit that stored an event. */
  relay: Relay;
}
