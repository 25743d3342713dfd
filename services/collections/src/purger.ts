import { setImmediate } from 'node:timers/promises';
import type { Logger } from '@kith/base';
import { Sweeper } from '@kith/service';
import type { CollectionStore } from './store/index.ts';

/**
 * Erases the data of deleted collections from the store, in the background and in small steps. To erase all collections of an
 * owner, it is enough to delete the root in the store. The purger then erases everything below the root.
 */
export function startPurger(
  store: Pick<CollectionStore, 'purge'>,
  options: { everyMs: number; log: Logger },
): { stop(): Promise<void> } {
  let stopped = false;
  const sweeper = new Sweeper(async () => {
    // Lets the process handle requests between two steps. If the store answers without I/O, requests would otherwise have to
    // wait for the whole purge.
    while (!stopped && (await store.purge())) await setImmediate();
  }, options);
  return {
    stop() {
      stopped = true;
      return sweeper.stop();
    },
  };
}
