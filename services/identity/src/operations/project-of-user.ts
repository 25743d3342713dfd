import { projectOfUser } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Tells the project of a user: addresses that name none ask for it (spec#short-forms-project). */
export const projectOfUserHandler = internalHandler(projectOfUser, async ({ userId }, app: AppContext) => ({
  projectId: await app.store.people.projectOf(userId),
}));
