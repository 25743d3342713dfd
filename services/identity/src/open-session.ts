import { randomUUID } from 'node:crypto';
import { clocksMs } from '@kith/base';
import type { ErrorCode, Session as SessionAnswer } from '@kith/contracts';
import { apart } from '@kith/store';
import type { AppContext } from './app.ts';
import { confirmSession, revokeSurplus } from './sessions.ts';
import type { Session, User } from './store/index.ts';
import { hashFamily, hashRefreshToken, makeRefreshToken } from './tokens/refresh-token.ts';
import { ownUserOf } from './user-views.ts';

const refreshLifetimeMs = 30 * 24 * 3600 * 1000;
/** If the process dies before the client has received the tokens, the session is removed after this time, in ms. */
const unconfirmedMs = 60_000 + clocksMs;
const userAgentLength = 512;

/** What a request says about the client's device, and the function that sets headers of the answer. */
export interface FromRequest {
  userAgent: string;
  clientIp: string;
  setHeader(name: string, value: string): void;
}

/**
 * Opens a session of a user. Returns the answer of sign-up, sign-in and verify-external-user (spec#accounts-session).
 * @param changed The error code to throw if a change of the user has meanwhile ended the user's sessions. For a new user,
 * `changed` is left out.
 */
export async function openSession(
  app: AppContext,
  user: User,
  request: FromRequest,
  at: Date,
  changed?: ErrorCode,
): Promise<SessionAnswer> {
  const refreshToken = makeRefreshToken();
  const session: Session = {
    sid: randomUUID(),
    projectId: user.projectId,
    userId: user.id,
    familyHash: hashFamily(refreshToken) ?? '',
    tokenHash: hashRefreshToken(refreshToken),
    rotated: null,
    epoch: user.sessionEpoch,
    createdAt: at,
    ...useOf(request, at),
    revokedAt: null,
  };
  const answer = await sessionAnswer(app, user, session, refreshToken, request);
  if (!changed) {
    await app.store.sessions.add(session);
    return answer;
  }
  // `apart` stores the session without the request's row of the audit log. This row is stored when the session is confirmed. If
  // it were stored here, it would report a success even if the confirmation failed.
  await apart(() => app.store.sessions.add(session, new Date(at.getTime() + unconfirmedMs)));
  await confirmSession(app, session, changed);
  await revokeSurplus(app, session);
  return answer;
}

/** The fields of a session that change each time the session is used, with their new values. */
export function useOf(
  request: FromRequest,
  at: Date,
): Pick<Session, 'lastUsedAt' | 'expiresAt' | 'userAgent' | 'ip'> {
  return {
    lastUsedAt: at,
    expiresAt: new Date(at.getTime() + refreshLifetimeMs),
    userAgent: request.userAgent.slice(0, userAgentLength).toWellFormed() || null,
    ip: request.clientIp || null,
  };
}

/** The answer that contains a session's tokens, in the form of the contract. Issues a new access token for the session. */
export async function sessionAnswer(
  app: AppContext,
  user: User,
  session: Session,
  refreshToken: string,
  request: FromRequest,
): Promise<SessionAnswer> {
  const { id: userId, projectId, role } = user;
  const accessToken = await app.tokens.issue({ userId, projectId, role, sessionId: session.sid });
  // No cache may store the tokens (RFC 6749 5.1).
  request.setHeader('Cache-Control', 'no-store');
  return { success: true, accessToken, refreshToken, user: ownUserOf(user) };
}
