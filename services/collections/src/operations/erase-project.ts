import { eraseProjectCollections } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Tells identity whether anything is left of a deleted project whose users it has erased (docs/adr/0044). */
export const eraseProjectHandler = internalHandler(
  eraseProjectCollections,
  async ({ projectId }, app: AppContext) => ({ isDone: await app.store.eraseProject(projectId) }),
);
