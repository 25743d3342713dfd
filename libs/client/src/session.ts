import type { KithError } from './errors.ts';
import type { OwnUser, SessionAnswer } from './generated/types.ts';

/** The signed-in user and the tokens. Anyone who has a session can act as that user, so protect it like a password. */
export interface Session {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly user: OwnUser;
  /**
   * The time at which the access token expires, in Unix ms on this machine's clock. If absent, the expiry time in the token is used.
   */
  readonly expiresAt?: number | undefined;
}

/** Why the session has changed. `ended`: the platform no longer accepts it; `error` says why. */
export interface SessionChange {
  readonly reason: 'signed-in' | 'refreshed' | 'signed-out' | 'ended' | 'set' | 'elsewhere';
  readonly error?: KithError | undefined;
}

export type SessionListener = (session: Session | null, change: SessionChange) => void;

/**
 * Makes a session from an answer. The token says how long it is valid, and this time is counted from now. So a machine with a
 * wrong clock does not treat a valid token as expired.
 */
export function sessionOf({ accessToken, refreshToken, user }: SessionAnswer, now = Date.now()): Session {
  const { iat, exp } = claimsOf(accessToken);
  const expiresAt = iat === undefined || exp === undefined ? undefined : now + (exp - iat) * 1000;
  return { accessToken, refreshToken, user, expiresAt };
}

/** The time at which the access token expires, in Unix ms on this machine's clock. `Infinity` if the time is unknown. */
export function expiryOf(session: Session): number {
  const { exp } = claimsOf(session.accessToken);
  return session.expiresAt ?? (exp === undefined ? Number.POSITIVE_INFINITY : exp * 1000);
}

/**
 * Whether two tokens belong to different users. If `other` is absent, the answer is yes. If one of the two tokens names no user
 * (a server key, for example), the answer is no.
 */
export function isOtherUser(token: string, other: string | undefined): boolean {
  if (other === undefined) return true;
  const [first, second] = [claimsOf(token).sub, claimsOf(other).sub];
  return first !== undefined && second !== undefined && first !== second;
}

/** Reads the claims of a token without verifying the token. The platform verifies tokens. */
function claimsOf(token: string): { sub?: string; iat?: number; exp?: number } {
  try {
    const [, payload = ''] = token.split('.');
    return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return {};
  }
}
