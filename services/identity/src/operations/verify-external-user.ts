import { ApiError, untilMade } from '@kith/base';
import { profileFields, userCreated, userUpdated, verifyExternalUser } from '@kith/contracts';
import { handler, type OperationRequest, structureFault } from '@kith/service';
import { apart } from '@kith/store';
import type { AppContext } from '../app.ts';
import { changedUser } from '../changed-user.ts';
import { eraseAccount } from '../erase-account.ts';
import { newUser } from '../new-user.ts';
import { openSession } from '../open-session.ts';
import { avatarAfter } from '../pictures.ts';
import { changesProfile, type GivenProfile, withProfile } from '../profile.ts';
import type { User } from '../store/index.ts';
import { notSuspended } from '../suspension.ts';
import { verifyExternalToken } from '../tokens/external-token.ts';
import { userEvent } from '../user-events.ts';

/**
 * Signs in a user with a token of the project's own backend. Creates the user or updates the profile with the data in the
 * token. Leaves out fields with values that a profile may not have, and a username that somebody else has
 * (spec#accounts-external-user, spec#accounts-external-left-out, spec#accounts-external-username).
 */
export const verifyExternalUserHandler = handler(verifyExternalUser, async (request, app: AppContext) => {
  const { projectId, body, audit } = request;
  const project = await app.store.projects.find(projectId);
  if (!project) throw new ApiError('project/not-found');
  if (project.publicKey === null) throw new ApiError('auth/missing-keys');
  const { publicKey } = project;
  const external = await verifyExternalToken(body.userJwt, {
    publicKey,
    projectId,
    audience: app.tokenAudience,
    maxAge: project.externalTokenMaxAge,
  });
  const findUser = () => app.store.people.findByForeignId(projectId, external?.foreignId ?? '');
  if (!external || (await app.erasedExternals.refuses(projectId, external, findUser))) {
    audit.tell({ actor: 'unknown' });
    throw new ApiError('auth/invalid-token');
  }
  const now = new Date();
  const given = profileOf(external.userData);
  const attempt = async () => {
    const upserted = await upsert(app, { projectId, foreignId: external.foreignId, given, audit }, now);
    if (upserted === 'username-taken') delete given.username;
    return typeof upserted === 'object' ? { result: upserted } : undefined;
  };
  // The new or changed user stays stored even if the session is refused later. So `apart` stores the user now, without the
  // audit row that reports the request's success. That row is stored with the session.
  const user = await apart(() => untilMade(attempt, request));
  if (await app.erasedExternals.refuses(projectId, external, async () => user)) {
    // The user was erased after the first check. If this request has just created a new user with the same foreign id, this new
    // user is erased, too.
    const isNew = user.createdAt.getTime() === now.getTime();
    audit.tell({ actor: `user:${user.id}` });
    const whose = { projectId, userId: user.id, deadline: request.deadline };
    if (isNew) await apart(() => eraseAccount(app, whose));
    throw new ApiError('auth/invalid-token');
  }
  audit.tell({ actor: `user:${user.id}` });
  return openSession(app, user, request, now, 'auth/invalid-token');
});

/**
 * The part of a request that `upsert` uses to tell the audit log whose request it is. The audit log needs this if the request
 * is refused.
 */
type Told = OperationRequest<typeof verifyExternalUser>['audit'];

/**
 * The stored user, or why the user is not stored yet. `stale`: another request has created or changed the user meanwhile.
 * `username-taken`: another user has the username.
 */
type Upserted = User | 'stale' | 'username-taken';

async function upsert(
  app: AppContext,
  {
    projectId,
    foreignId,
    given,
    audit,
  }: { projectId: string; foreignId: string; given: GivenProfile; audit: Told },
  now: Date,
): Promise<Upserted> {
  const found = await app.store.people.findByForeignId(projectId, foreignId);
  const before =
    found &&
    (await notSuspended(app, found).catch((error) => {
      audit.tell({ actor: `user:${found.id}` });
      throw error;
    }));
  if (before) return update(app, before, given, now);
  const user = newUser({ projectId, foreignId, email: null, passwordHash: null }, withProfile(given), now);
  return create(app, user);
}

async function create(app: AppContext, user: User): Promise<Upserted> {
  const outcome = await app.store.users.add(user, userEvent(userCreated, user));
  if (outcome !== 'stored') return outcome === 'username-taken' ? outcome : 'stale';
  app.relay.kick();
  return user;
}

async function update(app: AppContext, before: User, given: GivenProfile, now: Date): Promise<Upserted> {
  const profile = withProfile(given, before);
  let after: User = { ...before, lastActive: now };
  if (changesProfile(profile, before)) {
    after = changedUser(after, { ...profile, ...avatarAfter(before, { avatar: given.avatar }) }, now);
    const outcome = await app.store.users.update(after, userEvent(userUpdated, after));
    if (outcome !== 'stored') return outcome;
    app.relay.kick();
  }
  await app.store.users.touch(after.projectId, after.id, now);
  return after;
}

/** The profile fields of a token, each checked by the contract's rule; other fields are ignored. */
function profileOf(userData: Record<string, unknown>): GivenProfile {
  const given: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries(profileFields)) {
    // The structure is checked here because so far, only the length of the token was checked. A token of an allowed length can
    // still contain data that is nested too deeply.
    if (!Object.hasOwn(userData, field) || structureFault(userData[field])) continue;
    const parsed = schema.safeParse(userData[field]);
    if (parsed.success) given[field] = parsed.data;
  }
  return given as GivenProfile;
}
