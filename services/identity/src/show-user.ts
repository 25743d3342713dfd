import { ApiError } from '@kith/base';
import type { OwnUser, PublicUser } from '@kith/contracts';
import { type Caller, type RequestContext, shownTo } from '@kith/service';
import type { AppContext } from './app.ts';
import type { User } from './store/index.ts';
import { ownUserOf, publicUserOf } from './user-views.ts';

interface Reader extends Pick<RequestContext, 'seesAll' | 'serverKey'> {
  projectId: string;
  caller: Caller | null;
}

/**
 * Whether a request may see profiles. If strangers must not see profiles, gateways already refuse requests without a token
 * (spec#users-strangers-none). This check is needed for two reasons: a gateway of an older version does not refuse such
 * requests, and a gateway may not have got the project's new setting yet.
 */
export async function seesProfiles(
  app: AppContext,
  { projectId, caller, seesAll, serverKey }: Reader,
): Promise<boolean> {
  if (caller || serverKey || seesAll) return true;
  const project = await app.store.projects.find(projectId);
  return project !== null && project.publicProfiles !== 'none';
}

/**
 * Whether a reader may see all data of a user. The user and the application's own back end may see all data
 * (spec#server-keys-rights).
 */
export function seesOwn({ caller, serverKey }: Reader, userId: string): boolean {
  return caller ? caller.userId === userId : serverKey !== undefined;
}

/** Adds the last sign-in to a user who was found by username or foreign id, if the reader may see this time. */
export async function asShown(app: AppContext, reader: Reader, user: User | null): Promise<User | null> {
  if (!user || !seesOwn(reader, user.id)) return user;
  return (await app.store.users.withSignIns([user]))[0] ?? null;
}

/**
 * Returns a user's public profile, as far as the reader may see it. If the reader sees all of the user, returns the full
 * profile (spec#users-public, spec#users-own, spec#users-strangers). Throws `user/not-found`.
 */
export async function showUser(
  app: AppContext,
  reader: Reader,
  find: () => Promise<User | null>,
): Promise<OwnUser | PublicUser> {
  const user = (await seesProfiles(app, reader)) ? await find() : null;
  if (!user) throw new ApiError('user/not-found');
  return seesOwn(reader, user.id) ? ownUserOf(user) : shownTo(reader)(publicUserOf(user));
}
