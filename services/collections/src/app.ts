import type { Turns } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { CollectionStore } from './store/index.ts';

/** What the handlers of this service need. */
export interface AppContext {
  store: CollectionStore;
  /** For withdrawing the published events of an erased user. */
  bus: Bus;
  /** Publishes the events that were stored with changes. */
  relay: Pick<Relay, 'kick'>;
  /**
   * If several changes of one collection have lost a race in this process, they run one after the other. Imports of entities
   * into one collection run one after the other, too.
   */
  turns: Turns;
}
