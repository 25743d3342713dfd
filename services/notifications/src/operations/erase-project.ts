import { eraseProjectNotifications } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * After the data of a deleted project's users is erased, erases the rest of the project. Until then, `isDone` is false
 * (docs/adr/0044).
 */
export const eraseProjectHandler = internalHandler(
  eraseProjectNotifications,
  async ({ projectId }, app: AppContext) => ({ isDone: await app.store.eraseProject(projectId) }),
);
