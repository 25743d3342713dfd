import type { StoreConfig } from '@kith/store';
import { openStore } from './store/index.ts';

/** Deletes projects again in a store that was restored. Identity erases their data when it runs (docs/adr/0044). */
export async function deleteProjectsAgain(config: StoreConfig, ids: readonly string[]): Promise<void> {
  const store = await openStore(config);
  try {
    for (const id of ids) await store.projects.remove(id, new Date());
  } finally {
    await store.close();
  }
}
