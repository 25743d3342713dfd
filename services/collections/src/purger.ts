import { setImmediate } from 'node:timers/promises';
import type { Logger } from '@kith/base';
import { Sweeper } from '@kith/service';
import type { CollectionStore } from './store/index.ts';

/**
 * Purges what deleted collections have left in the store. It does so in the background, part by part. To delete all of an
 * owner's data, delete the root in the store: the purger removes the rest.
 */
export function startPurger(
  store: Pick<CollectionStore, 'purge'>,
  options: { everyMs: number; log: Logger },
): { stop(): Promise<void> } {
  let stopped = false;
  const sweeper = new Sweeper(async () => {
    // Requests get their turn between two parts, even if the store never waits.
    while (!stopped && (await store.purge())) await setImmediate();
  }, options);
  return {
    stop() {
      stopped = true;
      return sweeper.stop();
    },
  };
}
