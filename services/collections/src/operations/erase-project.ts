import { eraseProjectCollections } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Erases what is left of a deleted project after identity has erased its users, and reports whether all is gone (docs/adr/0044). */
export const eraseProjectHandler = internalHandler(
  eraseProjectCollections,
  async ({ projectId }, app: AppContext) => ({ isDone: await app.store.eraseProject(projectId) }),
);
