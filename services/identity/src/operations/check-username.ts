import { checkUsername } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Tells whether a username is free now (spec#users-check-username); only storing the username reserves it. */
export const checkUsernameHandler = handler(checkUsername, async (request, app: AppContext) => {
  const holder = await app.store.people.findByUsername(request.projectId, request.query.username);
  return { available: holder === null };
});
