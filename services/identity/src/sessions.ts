import { ApiError } from '@kith/base';
import { type ErrorCode, sessionRevoked } from '@kith/contracts';
import { makeEvent } from '@kith/service';
import { afterChange } from '@kith/store';
import type { AppContext } from './app.ts';
import type { Ending, EndingReason, RevocationReason, Session, User } from './store/index.ts';
import { accessLifetimeMs } from './tokens/signing-keys.ts';

const batch = 100;

/**
 * How far clocks may differ in total if each is up to a minute off: the clocks of the replica that issued a token, of the one
 * that revoked it, of the one that is asked what is revoked, and of the gateway that judges it. One more minute is spare.
 */
const clocksDifferMs = 5 * 60_000;

/** The reason in the event when operators, not the user, have ended the session. */
const byOperators: Partial<Record<EndingReason, RevocationReason>> = {
  suspended: 'suspended',
  'ended-by-operator': 'ended',
  'password-set': 'password-changed',
};

/** The time from which every gateway regards access tokens that were issued before `at` as expired. */
export function tokensEnd(at: Date): Date {
  return new Date(at.getTime() + accessLifetimeMs + clocksDifferMs);
}

/** Tells whether a session is still open: not revoked, not expired, and not made outdated by a change of its user. */
export function isOpen(session: Session, user: User, at: Date): boolean {
  return session.revokedAt === null && session.expiresAt > at && isOfNow(session, user);
}

function isOfNow(session: Session, user: User): boolean {
  return session.epoch === user.sessionEpoch || session.sid === user.keptSession;
}

/**
 * Revokes a session for good and tells gateways. A session that is already revoked stays as it is.
 * @param judged The hash of the token that was valid when the decision to revoke was made; if another token is valid by now,
 * the session stays as it is, too.
 * @returns Whether this call has revoked it.
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
  // A suspended user's session is kept until its refresh token would have expired, so that refreshing it is answered
  // `auth/suspended`.
  const keepUntil = reason === 'suspended' && session.expiresAt > until ? session.expiresAt : until;
  if (!(await app.store.sessions.revoke(session, { at, keepUntil, event, judged }))) return false;
  app.relay.kick();
  afterChange(() => app.notices.tell({ sessions: [{ sessionId: session.sid, until: until.toISOString() }] }));
  return true;
}

/**
 * Revokes the sessions that a stored change of their user made outdated. Repeatable: any process finishes what a died one has
 * left.
 */
export async function finishEnding(app: AppContext, ending: Ending): Promise<void> {
  await afterChange(() => finish(app, ending));
}

async function finish(app: AppContext, ending: Ending): Promise<void> {
  const { projectId, userId, reason } = ending;
  const user = await app.store.users.account(projectId, userId);
  for (const session of await app.store.sessions.live(projectId, userId)) {
    if (!user || !isOfNow(session, user)) await revokeSession(app, session, reason);
  }
  await app.store.accounts.ended(ending);
}

/** Revokes every session of a user who no longer exists. Repeatable. */
export async function endSessionsOf(
  app: AppContext,
  { projectId, userId }: { projectId: string; userId: string },
  reason: RevocationReason,
): Promise<void> {
  await afterChange(async () => {
    for (const session of await app.store.sessions.live(projectId, userId)) {
      await revokeSession(app, session, reason);
    }
  });
}

/** Finishes all unfinished endings. */
export async function finishEndings(app: AppContext): Promise<void> {
  for (;;) {
    const endings = await app.store.accounts.endings(batch);
    for (const ending of endings) await finishEnding(app, ending);
    if (endings.length < batch) return;
  }
}

/**
 * Checks whether the user has changed what sessions depend on while this one was being opened. If so, revokes the session,
 * which may have been missed when the change ended the others. Throws `auth/suspended`, or `code`.
 */
export async function confirmSession(app: AppContext, session: Session, code: ErrorCode): Promise<void> {
  const user = await app.store.users.account(session.projectId, session.userId);
  if (user && isOfNow(session, user)) return;
  await revokeSession(app, session, 'ended');
  throw new ApiError(user && !user.isActive ? 'auth/suspended' : code);
}

/**
 * Stores in a user that all its sessions have ended, then revokes them. Returns the stored user, or `undefined` if the user was
 * changed since `user` was read.
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
