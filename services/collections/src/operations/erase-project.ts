import { eraseProjectCollections } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Erases what is left of a deleted project, and returns whether everything is gone (docs/adr/0044). The identity service has
 * already erased the project's users before this call.
 */
export const eraseProjectHandler = internalHandler(
  eraseProjectCollections,
  async ({ projectId }, app: AppContext) => ({ isDone: await app.store.eraseProject(projectId) }),
);
