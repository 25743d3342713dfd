import { checkUsername } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Returns whether a username is free now. The check does not reserve the name (spec#users-check-username). */
export const checkUsernameHandler = handler(checkUsername, async (request, app: AppContext) => {
  const holder = await app.store.people.findByUsername(request.projectId, request.query.username);
  return { available: holder === null };
});
