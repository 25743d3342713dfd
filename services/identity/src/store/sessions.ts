import type { EventEnvelope } from '@kith/contracts';
import type { ListPage, ListRange } from '../listing.ts';

/** A session is a family of refresh tokens, of which one at a time is valid: the row stays, its hash changes. */
export interface Session {
  sid: string;
  projectId: string;
  userId: string;
  /** Hash of the part that all tokens of the family share. */
  familyHash: string;
  /** Hash of the valid token. */
  tokenHash: string;
  /** The token before that one; null when there was none. */
  rotated: RotatedToken | null;
  /** The user's `sessionEpoch` when it was opened. */
  epoch: number;
  createdAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
  userAgent: string | null;
  ip: string | null;
  revokedAt: Date | null;
}

export interface RotatedToken {
  hash: string;
  /** The valid token, sealed under a key that only who has the rotated one can make. */
  sealed: string;
  at: Date;
}

export interface Revocation {
  at: Date;
  keepUntil: Date;
  event: EventEnvelope;
  /** Hash of the token that was valid when it was judged. */
  judged?: string | undefined;
}

export interface SessionStore {
  add(session: Session): Promise<void>;
  find(projectId: string, userId: string, sid: string): Promise<Session | null>;
  findFamily(projectId: string, familyHash: string): Promise<Session | null>;
  /**
   * Stores tokens, `lastUsedAt`, `expiresAt`, `userAgent` and `ip` if `from` is still the valid token's hash. The time of
   * it is the database's, as replicas' clocks differ.
   */
  rotate(session: Session, from: string): Promise<boolean>;
  /**
   * Revokes for good with the event of it, and forgets device and sealed token. The row goes after `keepUntil`.
   * `false` for one that is gone or was revoked before, or whose valid token is not `judged`, where that is given.
   */
  revoke(session: Session, of: Revocation): Promise<boolean>;
  /** Whether the rotated token that a session is found with was rotated within the last `ms`, by the database's time. */
  rotatedWithin(session: Session, ms: number): Promise<boolean>;
  /** A user's sessions that are not revoked. */
  live(projectId: string, userId: string): Promise<Session[]>;
  /** The same by pages, newest first, without those expired at `at`. */
  list(of: { projectId: string; userId: string; at: Date }, range: ListRange): Promise<ListPage<Session>>;
  /** Sessions revoked after a `revokedPlace`, in the order of these. */
  revoked(after: string, limit: number): Promise<{ sid: string; at: Date; place: string }[]>;
  /** Takes away rows that are over at `at`. */
  purge(at: Date): Promise<void>;
}

/** Where a revoked session stands among all, oldest first; without an id, where those of that time begin. */
export function revokedPlace(at: Date, sid = ''): string {
  return `${String(at.getTime()).padStart(13, '0')}|${sid}`;
}
