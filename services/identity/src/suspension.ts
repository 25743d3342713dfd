import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError, untilMade } from '@kith/base';
import { userSuspended, userUpdated } from '@kith/contracts';
import { apart } from '@kith/store';
import type { AppContext } from './app.ts';
import { changedUser } from './changed-user.ts';
import { finishEnding, tokensEnd } from './sessions.ts';
import type { Suspension, User } from './store/index.ts';
import { userEvent } from './user-events.ts';

interface Whose {
  projectId: string;
  userId: string;
  deadline?: number | undefined;
}

/** The maximum number of suspensions that one sweep ends. */
const batch = 1_000;

/**
 * The time until which gateways must refuse a suspended user. By then, the user's tokens have expired, or the suspension has
 * ended.
 */
export function refusedUntil(at: Date, until: Date | null): Date {
  const end = tokensEnd(at);
  return until !== null && until < end ? until : end;
}

/**
 * Suspends a user. The same write ends the user's sessions, and gateways are told immediately. If the user is already
 * suspended, replaces the reason and the end. Throws `user/not-found`.
 */
export async function suspend(app: AppContext, whose: Whose, suspension: Suspension): Promise<User> {
  const user = await untilMade(() => suspendOnce(app, whose, suspension), whose);
  // This is also done if nothing has changed, because an earlier request may have died before it.
  if (user.suspendedAt) {
    const { projectId, id: userId, sessionEpoch: epoch } = user;
    const until = refusedUntil(user.suspendedAt, suspension.until).toISOString();
    app.notices.tell({ suspended: [{ userId, until }] });
    await finishEnding(app, { projectId, userId, epoch, reason: 'suspended' });
  }
  return user;
}

async function suspendOnce(app: AppContext, { projectId, userId }: Whose, suspension: Suspension) {
  const before = await app.store.users.find(projectId, userId);
  if (!before) throw new ApiError('user/not-found');
  if (!before.isActive && isSame(await saidOf(app, before), suspension)) {
    return { result: before };
  }
  const at = new Date();
  const ended = { sessionEpoch: before.sessionEpoch + 1, keptSession: null };
  const after = before.isActive
    ? changedUser(before, { ...ended, isActive: false, suspendedAt: at }, at)
    : { ...before, updatedAt: at, rev: before.rev + 1 };
  const event = before.isActive ? userEvent(userSuspended, after, null) : null;
  const ending = before.isActive ? ('suspended' as const) : null;
  if ((await app.store.accounts.update(after, { event, ending, suspension })) === 'stale') return undefined;
  app.relay.kick();
  return { result: after };
}

/** Restores a user, who may then sign in again. Ended sessions stay ended. Throws `user/not-found`. */
export async function restore(app: AppContext, whose: Whose): Promise<User> {
  const user = await restoreIfThere(app, whose);
  if (!user) throw new ApiError('user/not-found');
  return user;
}

/**
 * Restores a user. Returns null if there is no such user.
 * @param how.ifOver If true, restores the user only if the end of the suspension has come.
 */
async function restoreIfThere(
  app: AppContext,
  whose: Whose,
  how: { ifOver?: boolean } = {},
): Promise<User | null> {
  const { user, isChanged } = await untilMade(() => restoreOnce(app, whose, how), whose);
  // An operator's request tells even if nothing has changed, because an earlier request may have died before it.
  if (user && (isChanged || !how.ifOver)) app.notices.tell({ restored: [user.id] });
  return user;
}

async function restoreOnce(
  app: AppContext,
  { projectId, userId }: Whose,
  how: { ifOver?: boolean },
): Promise<{ result: { user: User | null; isChanged: boolean } } | undefined> {
  const before = await app.store.users.find(projectId, userId);
  if (!before) return { result: { user: null, isChanged: false } };
  const stays = before.isActive || (how.ifOver && !isOver(await saidOf(app, before)));
  if (stays) return { result: { user: before, isChanged: false } };
  const after = changedUser(before, { isActive: true, suspendedAt: null });
  const event = userEvent(userUpdated, after, null);
  const stored = await app.store.accounts.update(after, { event, ending: null, suspension: null });
  if (stored === 'stale') return undefined;
  app.relay.kick();
  return { result: { user: after, isChanged: true } };
}

/**
 * Returns a user who wants to sign in, unless the user is suspended. If the suspension has ended by now, restores the user
 * first. Returns null if the account was deleted meanwhile. Throws `auth/suspended`.
 */
export async function notSuspended(app: AppContext, user: User, deadline?: number): Promise<User | null> {
  const restored = await restoreIfOver(app, user, deadline);
  if (restored && !restored.isActive) throw new ApiError('auth/suspended');
  return restored;
}

/**
 * Restores a user whose suspension has ended by now; a user who is still suspended, or not suspended, stays as it is. Returns
 * null if the account was deleted meanwhile.
 */
export async function restoreIfOver(app: AppContext, user: User, deadline?: number): Promise<User | null> {
  if (user.isActive || !isOver(await saidOf(app, user))) return user;
  const whose = { projectId: user.projectId, userId: user.id, deadline };
  // The end of the suspension is stored even if the request is refused later. So `apart` stores it without the request's row of
  // the audit log, which would report a success. This row is stored with a later change of the request.
  return apart(() => restoreIfThere(app, whose, { ifOver: true }));
}

/** Ends the suspensions whose end has come (spec#admin-users-suspend-until). Idempotent; a sweep calls it regularly. */
export async function endSuspensions(app: AppContext): Promise<void> {
  for (const whose of await app.store.accounts.suspendedUntil(new Date(), batch)) {
    await restoreIfThere(app, whose, { ifOver: true });
    await nextTurn();
  }
}

async function saidOf(app: AppContext, user: User): Promise<Suspension | undefined> {
  return (await app.store.accounts.suspensions([user])).get(user.id);
}

function isOver(suspension: Suspension | undefined): boolean {
  return suspension !== undefined && suspension.until !== null && suspension.until.getTime() < Date.now();
}

function isSame(one: Suspension | undefined, other: Suspension): boolean {
  const { until = null, reason = null } = one ?? {};
  return until?.getTime() === other.until?.getTime() && reason === other.reason;
}
