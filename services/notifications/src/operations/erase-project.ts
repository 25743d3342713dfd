import { eraseProjectNotifications } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Erases what is left of a deleted project, once the data of the project's users is erased. Until then, `isDone` is false
 * (docs/adr/0044).
 */
export const eraseProjectHandler = internalHandler(
  eraseProjectNotifications,
  async ({ projectId }, app: AppContext) => ({ isDone: await app.store.eraseProject(projectId) }),
);
