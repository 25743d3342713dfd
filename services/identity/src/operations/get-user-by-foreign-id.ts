import { getUserByForeignId } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { asShown, showUser } from '../show-user.ts';

/** Returns the user who has this id in the project's own backend (spec#users-by-foreign-id). */
export const getUserByForeignIdHandler = handler(getUserByForeignId, async (request, app: AppContext) => {
  const { projectId, query } = request;
  const { foreignId } = query;
  const user = await showUser(app, request, async () =>
    asShown(app, request, await app.store.people.findByForeignId(projectId, foreignId)),
  );
  // The answer always contains the foreign id, because the caller knows it already (spec#users-strangers-foreign-id).
  return { ...user, foreignId };
});
