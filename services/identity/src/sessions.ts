import { ApiError } from '@kith/base';
import { type ErrorCode, sessionRevoked } from '@kith/contracts';
import { type Caller, makeEvent } from '@kith/service';
import { afterChange, apart } from '@kith/store';
import type { AppContext } from './app.ts';
import type { Ending, EndingReason, RevocationReason, Session, User } from './store/index.ts';
import { accessLifetimeMs } from './tokens/signing-keys.ts';

const batch = 100;
/** How many sessions of a user are revoked at the same time. */
const atOnce = 10;
/** How many sessions a user may have (spec#accounts-sessions-most). */
const mostSessions = 200;

/**
 * How far clocks may differ in total, in ms, if each clock is up to a minute off. Four machines take part, each with its own
 * clock. They are the replica that issued a token, the replica that revoked it, the replica that lists revocations, and the
 * gateway that checks the token. The fifth minute is a reserve.
 */
const clocksDifferMs = 5 * 60_000;

/**
 * Left: the reasons for which operators end sessions. Right: the reason in the event. Any other reason stays the same in the
 * event, and the event's actor is then the session's user.
 */
const byOperators: Partial<Record<EndingReason, RevocationReason>> = {
  suspended: 'suspended',
  'ended-by-operator': 'ended',
  'password-set': 'password-changed',
};

/** The time by which all access tokens that were issued before `at` have expired, even for a gateway whose clock is slow. */
export function tokensEnd(at: Date): Date {
  return new Date(at.getTime() + accessLifetimeMs + clocksDifferMs);
}

/**
 * Returns whether a session is still open. An open session is neither revoked nor expired, and no change of its user has ended
 * it.
 */
export function isOpen(session: Session, user: User, at: Date): boolean {
  return session.revokedAt === null && session.expiresAt > at && isOfNow(session, user);
}

/**
 * Throws `auth/unauthorized` if the caller's session is not open any more. The gateway has checked the access token. But since
 * then, somebody may have ended the session to sign out a stranger, and the request may come from that stranger. Call this
 * function each time after you have read the document that the request changes. Whoever ends a session on purpose also changes
 * this document (`endSession`, `finishEnding`). So if the session ends after this check, the change is refused, and the request
 * is checked again.
 */
export async function requireOpenSession(app: AppContext, user: User, { sessionId }: Caller): Promise<void> {
  const session = await app.store.sessions.find(user.projectId, user.id, sessionId);
  if (session && isOpen(session, user, new Date())) return;
  throw sessionEnded();
}

export function sessionEnded(): ApiError {
  return new ApiError('auth/unauthorized', { message: 'The session of this access token has ended.' });
}

/** Returns `false` if a change of the user has ended the session. Such a change ends all sessions except `keptSession`. */
function isOfNow(session: Pick<Session, 'epoch' | 'sid'>, user: User): boolean {
  return session.epoch === user.sessionEpoch || session.sid === user.keptSession;
}

/**
 * Revokes a session permanently, and informs gateways of the revocation. A session that is already revoked stays as it is.
 * @param judged The hash of the token that was valid when the decision to revoke was made. If another token is valid by now,
 * the session also stays as it is.
 * @returns Whether this call has revoked the session.
 */
export async function revokeSession(
  app: AppContext,
  session: Session,
  reason: EndingReason,
  judged?: string,
): Promise<boolean> {
  const at = new Date();
  const until = tokensEnd(at);
  const event = makeEvent(sessionRevoked, {
    projectId: session.projectId,
    actorId: byOperators[reason] ? null : session.userId,
    aggregate: { type: 'session', id: session.sid, seq: 1 },
    data: {
      sessionId: session.sid,
      userId: session.userId,
      reason: byOperators[reason] ?? (reason as RevocationReason),
    },
    occurredAt: at,
  });
  // A suspended user's session is kept until its refresh token would have expired. Until then, a refresh gets the answer
  // `auth/suspended`.
  const keepUntil = reason === 'suspended' && session.expiresAt > until ? session.expiresAt : until;
  if (!(await app.store.sessions.revoke(session, { at, keepUntil, event, judged }))) return false;
  app.relay.kick();
  afterChange(() => app.notices.tell({ sessions: [{ sessionId: session.sid, until: until.toISOString() }] }));
  return true;
}

/**
 * Ends one session of a user. After that, no request of this session changes the password or the factors, stores a change of
 * the e-mail address, or deletes the account. This is also true for a request that was checked before (`requireOpenSession`).
 * The parameters and the result are those of `revokeSession`.
 */
export async function endSession(
  app: AppContext,
  session: Session,
  reason: EndingReason,
  judged?: string,
): Promise<boolean> {
  const isRevoked = await revokeSession(app, session, reason, judged);
  // The token was exchanged meanwhile, or another request has ended the session.
  if (!isRevoked && judged !== undefined) return false;
  const touch = () =>
    apart(() => Promise.all([app.store.accounts.touch(session), app.store.factors.touch(session)]));
  // This is done even if the session was already revoked, because the request that revoked it may have failed at this point.
  await (isRevoked ? afterChange(touch) : touch());
  return isRevoked;
}

/**
 * Revokes the sessions that are no longer valid because their user was changed, for example got a new password. The change is
 * already stored. Idempotent: if a process dies, any other process finishes the work.
 */
export async function finishEnding(app: AppContext, ending: Ending): Promise<void> {
  await afterChange(() => finish(app, ending));
}

async function finish(app: AppContext, ending: Ending): Promise<void> {
  const { projectId, userId, reason } = ending;
  for await (const live of app.store.sessions.live(projectId, userId)) {
    // The user is read after the sessions. Otherwise, a session that was opened after a newer change of the user would be
    // revoked, although it is valid.
    const user = await app.store.users.account(projectId, userId);
    const outdated = live.filter((session) => !user || !isOfNow(session, user));
    await revokeAll(app, outdated, reason);
  }
  await app.store.factors.touch(ending);
  await app.store.accounts.ended(ending);
}

/** Revokes every session of a user who no longer exists. Idempotent. */
export async function endSessionsOf(
  app: AppContext,
  { projectId, userId }: { projectId: string; userId: string },
  reason: RevocationReason,
): Promise<void> {
  await afterChange(async () => {
    for await (const live of app.store.sessions.live(projectId, userId)) await revokeAll(app, live, reason);
  });
}

async function revokeAll(app: AppContext, sessions: readonly Session[], reason: EndingReason): Promise<void> {
  for (let at = 0; at < sessions.length; at += atOnce)
    await Promise.all(sessions.slice(at, at + atOnce).map((one) => revokeSession(app, one, reason)));
}

/**
 * If a user has too many sessions with this new one, ends the sessions that were used least recently
 * (spec#accounts-sessions-most).
 */
export async function revokeSurplus(app: AppContext, newest: Session): Promise<void> {
  await revokeAll(app, await app.store.sessions.surplus(newest, mostSessions), 'ended');
}

/** Calls `finishEnding` for all users whose sessions were not all revoked, for example because a process died. */
export async function finishEndings(app: AppContext): Promise<void> {
  for (;;) {
    const endings = await app.store.accounts.endings(batch);
    for (const ending of endings) await finishEnding(app, ending);
    if (endings.length < batch) return;
  }
}

/**
 * Makes a newly opened session permanent. If a change of the user has meanwhile ended the user's sessions, revokes this
 * session, too, and throws `auth/suspended` or `code`. The change itself may have missed this session, which was just being
 * opened.
 */
export async function confirmSession(app: AppContext, session: Session, code: ErrorCode): Promise<void> {
  const [user, opened] = await Promise.all([
    app.store.users.account(session.projectId, session.userId),
    app.store.sessions.again(session),
  ]);
  const isOfUser = user && isOfNow(session, user);
  if (isOfUser && opened && (await app.store.sessions.extend(opened, session.expiresAt))) return;
  await apart(() => revokeSession(app, session, 'ended'));
  throw new ApiError(user && !user.isActive ? 'auth/suspended' : code);
}

/**
 * Changes the stored user so that none of the user's sessions is valid any more, and then revokes these sessions. Returns the
 * stored user. Returns `undefined` if the user has changed since `user` was read.
 */
export async function endAllSessions(
  app: AppContext,
  user: User,
  reason: EndingReason,
): Promise<User | undefined> {
  const after: User = {
    ...user,
    sessionEpoch: user.sessionEpoch + 1,
    keptSession: null,
    updatedAt: new Date(),
    rev: user.rev + 1,
  };
  if ((await app.store.accounts.update(after, { event: null, ending: reason })) === 'stale') return undefined;
  const { projectId, id: userId, sessionEpoch: epoch } = after;
  await finishEnding(app, { projectId, userId, epoch, reason });
  return after;
}
