import type { Turns } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { CollectionStore } from './store/index.ts';

/** What the handlers of this service need. */
export interface AppContext {
  store: CollectionStore;
  /** Used to withdraw the published events of an erased user. */
  bus: Bus;
  /** Publishes the events that were stored with changes. */
  relay: Pick<Relay, 'kick'>;
  /** Makes changes of one collection in this process take turns. Then only changes in other processes can come in between. */
  turns: Turns;
}
