import { projectOfUser } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Returns the project of a user. Gateways ask for it if the address of a request names no project (spec#short-forms-project).
 */
export const projectOfUserHandler = internalHandler(projectOfUser, async ({ userId }, app: AppContext) => ({
  projectId: await app.store.people.projectOf(userId),
}));
