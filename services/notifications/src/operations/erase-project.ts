import { eraseProjectNotifications } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * When a deleted project has no data of users left, erases the rest of the project. Before that, `isDone` is false
 * (docs/adr/0044).
 */
export const eraseProjectHandler = internalHandler(
  eraseProjectNotifications,
  async ({ projectId }, app: AppContext) => ({ isDone: await app.store.eraseProject(projectId) }),
);
