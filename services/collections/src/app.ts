import type { Turns } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { CollectionStore } from './store/index.ts';

/** What the handlers of this service need. */
export interface AppContext {
  store: CollectionStore;
  /** For withdrawing published events of an erased user. */
  bus: Bus;
  /** Publishes the events that changes have stored. */
  relay: Pick<Relay, 'kick'>;
  /** Makes changes of one collection take turns within a process, so that they only race with those of other processes. */
  turns: Turns;
}
