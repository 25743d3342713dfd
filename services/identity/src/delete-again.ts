import type { StoreConfig } from '@kith/store';
import { openStore } from './store/index.ts';

/** Deletes projects again in a restored store. Identity erases the data of these projects when it runs (docs/adr/0044). */
export async function deleteProjectsAgain(config: StoreConfig, ids: readonly string[]): Promise<void> {
  const store = await openStore(config);
  try {
    for (const id of ids) await store.projects.remove(id, new Date());
  } finally {
    await store.close();
  }
}
