import { setImmediate } from 'node:timers/promises';
import type { Logger } from '@kith/base';
import { Sweeper } from '@kith/service';
import type { CollectionStore } from './store/index.ts';

/**
 * Purges what deleted collections left, part by part, in the background of requests. What deletes an owner's data
 * as a whole deletes the root in the store and leaves the rest to this.
 */
export function startPurger(
  store: Pick<CollectionStore, 'purge'>,
  options: { everyMs: number; log: Logger },
): { stop(): Promise<void> } {
  let stopped = false;
  const sweeper = new Sweeper(async () => {
    // Requests come in between, also where the store works without waiting.
    while (!stopped && (await store.purge())) await setImmediate();
  }, options);
  return {
    stop() {
      stopped = true;
      return sweeper.stop();
    },
  };
}
