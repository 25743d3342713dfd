import type { KithError } from './errors.ts';
import type { OwnUser, SessionAnswer } from './generated/types.ts';

/** Who is signed in, and with what. Whoever has it can act as that user: keep it as you would a password. */
export interface Session {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly user: OwnUser;
  /** When the access token ends by this machine's clock, in ms; without it the token's own time counts. */
  readonly expiresAt?: number | undefined;
}

/** Why the session is another one now. `ended`: the platform takes it no more, as `error` tells. */
export interface SessionChange {
  readonly reason: 'signed-in' | 'refreshed' | 'signed-out' | 'ended' | 'set' | 'elsewhere';
  readonly error?: KithError | undefined;
}

export type SessionListener = (session: Session | null, change: SessionChange) => void;

/**
 * Makes a session of an answer. How long the token holds is taken from the token, from when on is now: so a machine
 * whose clock is wrong does not take it for expired.
 */
export function sessionOf({ accessToken, refreshToken, user }: SessionAnswer, now = Date.now()): Session {
  const { iat, exp } = claimsOf(accessToken);
  const expiresAt = iat === undefined || exp === undefined ? undefined : now + (exp - iat) * 1000;
  return { accessToken, refreshToken, user, expiresAt };
}

/** When the access token ends, in ms of this machine's clock; `Infinity` where nothing tells. */
export function expiryOf(session: Session): number {
  const { exp } = claimsOf(session.accessToken);
  return session.expiresAt ?? (exp === undefined ? Number.POSITIVE_INFINITY : exp * 1000);
}

/** Reads a token without verifying it: that is the platform's to do. */
function claimsOf(token: string): { iat?: number; exp?: number } {
  try {
    const [, payload = ''] = token.split('.');
    return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return {};
  }
}
