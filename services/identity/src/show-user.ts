import { ApiError } from '@kith/base';
import type { OwnUser, PublicUser } from '@kith/contracts';
import type { Caller } from '@kith/service';
import type { AppContext } from './app.ts';
import type { User } from './store/index.ts';
import { ownUserOf, publicUserOf } from './user-views.ts';

interface Reader {
  projectId: string;
  caller: Caller | null;
}

/**
 * Whether a request may see profiles: a signed-in one may, another where the project has them public
 * (spec#projects-public-profiles).
 */
export async function seesProfiles(app: AppContext, { projectId, caller }: Reader): Promise<boolean> {
  if (caller) return true;
  const project = await app.store.projects.find(projectId);
  return project?.publicProfiles ?? false;
}

/** Adds the last sign-in to a user who was found by name, if the user itself asks: nobody else sees it. */
export async function asShown(app: AppContext, { caller }: Reader, user: User | null): Promise<User | null> {
  if (!user || caller?.userId !== user.id) return user;
  return (await app.store.users.withSignIns([user]))[0] ?? null;
}

/**
 * Answers a user's public profile; to the user itself the own one (spec#users-public, spec#users-own). Throws
 * `user/not-found`, also where profiles are not public and nobody is signed in.
 */
export async function showUser(
  app: AppContext,
  reader: Reader,
  find: () => Promise<User | null>,
): Promise<OwnUser | PublicUser> {
  const user = (await seesProfiles(app, reader)) ? await find() : null;
  if (!user) throw new ApiError('user/not-found');
  return reader.caller?.userId === user.id ? ownUserOf(user) : publicUserOf(user);
}
