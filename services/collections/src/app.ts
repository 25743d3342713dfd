import type { Turns } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { Relay } from '@kith/service';
import type { CollectionStore } from './store/index.ts';

/** What the handlers of this service stand on. */
export interface AppContext {
  store: CollectionStore;
  /** For taking back what was published of an erased user. */
  bus: Bus;
  /** Publishes the events that changes have stored. */
  relay: Pick<Relay, 'kick'>;
  /** Changes of one collection take turns within a process, so that only other processes' get in their way. */
  turns: Turns;
}
