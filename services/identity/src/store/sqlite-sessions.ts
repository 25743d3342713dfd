import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type SqliteOutbox, transaction } from '@kith/service';
import { type ListPage, type ListRange, placeOf } from '../listing.ts';
import { type Revocation, revokedPlace, type Session, type SessionStore } from './sessions.ts';

/** Second form of the table: those who are signed in sign in anew. */
export const sessionsMigration = `
  DROP TABLE sessions;
  CREATE TABLE sessions (
    projectId TEXT NOT NULL, userId TEXT NOT NULL, place TEXT NOT NULL, sid TEXT NOT NULL UNIQUE,
    familyHash TEXT NOT NULL UNIQUE, tokenHash TEXT NOT NULL,
    rotatedHash TEXT, rotatedSealed TEXT, rotatedAt INTEGER, epoch INTEGER NOT NULL,
    createdAt INTEGER NOT NULL, lastUsedAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL,
    userAgent TEXT, ip TEXT, revokedAt INTEGER, revokedPlace TEXT,
    PRIMARY KEY (projectId, userId, place)) WITHOUT ROWID;
  CREATE INDEX sessions_expire ON sessions (expiresAt);
  CREATE INDEX sessions_revoked ON sessions (revokedPlace) WHERE revokedPlace IS NOT NULL;`;

interface SessionRow {
  sid: string;
  projectId: string;
  userId: string;
  familyHash: string;
  tokenHash: string;
  rotatedHash: string | null;
  rotatedSealed: string | null;
  rotatedAt: number | null;
  epoch: number;
  createdAt: number;
  lastUsedAt: number;
  expiresAt: number;
  userAgent: string | null;
  ip: string | null;
  revokedAt: number | null;
}

const rotating = ['tokenHash', 'rotatedHash', 'rotatedSealed', 'rotatedAt', 'lastUsedAt', 'expiresAt'];
const device = ['userAgent', 'ip'];
const fields = [
  ...['sid', 'projectId', 'userId', 'familyHash', 'epoch', 'createdAt', 'revokedAt'],
  ...rotating,
  ...device,
];

/** Sessions on SQLite. */
export class SqliteSessions implements SessionStore {
  readonly #db: DatabaseSync;
  readonly #outbox: SqliteOutbox;
  readonly #insert: StatementSync;
  readonly #rotate: StatementSync;
  readonly #rotatedSince: StatementSync;
  readonly #revoke: StatementSync;
  readonly #purge: StatementSync;
  readonly #select: StatementSync;
  readonly #selectFamily: StatementSync;
  readonly #selectLive: StatementSync;
  readonly #count: StatementSync;
  readonly #page: StatementSync;
  readonly #selectRevoked: StatementSync;

  constructor(db: DatabaseSync, outbox: SqliteOutbox) {
    const select = `SELECT ${fields.join(', ')} FROM sessions`;
    const ofUser = 'projectId = ? AND userId = ? AND revokedAt IS NULL';
    const set = [...rotating, ...device].map((name) => `${name} = :${name}`).join(', ');
    this.#db = db;
    this.#outbox = outbox;
    this.#insert = db.prepare(
      `INSERT INTO sessions (place, ${fields.join(', ')}) VALUES (:place, ${fields.map((name) => `:${name}`).join(', ')})`,
    );
    this.#rotate = db.prepare(
      `UPDATE sessions SET ${set} WHERE sid = :sid AND tokenHash = :from AND revokedAt IS NULL`,
    );
    this.#rotatedSince = db.prepare(
      'SELECT sid FROM sessions WHERE sid = ? AND rotatedHash = ? AND rotatedAt >= ?',
    );
    this.#revoke = db.prepare(
      `UPDATE sessions SET revokedAt = :at, revokedPlace = :place, expiresAt = :keepUntil,
              rotatedHash = NULL, rotatedSealed = NULL, rotatedAt = NULL, userAgent = NULL, ip = NULL
        WHERE sid = :sid AND revokedAt IS NULL AND tokenHash = coalesce(:judged, tokenHash)`,
    );
    this.#purge = db.prepare('DELETE FROM sessions WHERE expiresAt < ?');
    this.#select = db.prepare(`${select} WHERE sid = ? AND projectId = ? AND userId = ?`);
    this.#selectFamily = db.prepare(`${select} WHERE familyHash = ? AND projectId = ?`);
    this.#selectLive = db.prepare(`${select} WHERE ${ofUser} ORDER BY place`);
    this.#count = db.prepare(`SELECT count(*) AS total FROM sessions WHERE ${ofUser} AND expiresAt > ?`);
    this.#page = db.prepare(
      `${select} WHERE ${ofUser} AND expiresAt > ? AND place > ? ORDER BY place LIMIT ? OFFSET ?`,
    );
    this.#selectRevoked = db.prepare(
      'SELECT sid, revokedAt, revokedPlace FROM sessions WHERE revokedPlace > ? ORDER BY revokedPlace LIMIT ?',
    );
  }

  async add(session: Session): Promise<void> {
    const place = placeOf({ createdAt: session.createdAt, id: session.sid });
    this.#insert.run({ ...rowOf(session), place });
  }

  async find(projectId: string, userId: string, sid: string): Promise<Session | null> {
    return sessionOf(this.#select.get(sid, projectId, userId));
  }

  async findFamily(projectId: string, familyHash: string): Promise<Session | null> {
    return sessionOf(this.#selectFamily.get(familyHash, projectId));
  }

  async rotate(session: Session, from: string): Promise<boolean> {
    const { rotated } = session;
    const at = new Date();
    const row: Record<string, string | number | null> = {
      ...rowOf({ ...session, rotated: rotated && { ...rotated, at } }),
    };
    const change = Object.fromEntries(
      [...rotating, ...device, 'sid'].map((name) => [name, row[name] ?? null]),
    );
    return this.#rotate.run({ ...change, from }).changes > 0;
  }

  async rotatedWithin({ sid, rotated }: Session, ms: number): Promise<boolean> {
    return this.#rotatedSince.get(sid, rotated?.hash ?? null, Date.now() - ms) !== undefined;
  }

  async revoke({ sid }: Session, { at, keepUntil, event, judged }: Revocation): Promise<boolean> {
    return transaction(this.#db, () => {
      const { changes } = this.#revoke.run({
        at: at.getTime(),
        place: revokedPlace(at, sid),
        keepUntil: keepUntil.getTime(),
        sid,
        judged: judged ?? null,
      });
      if (changes === 0) return false;
      this.#outbox.add(event);
      return true;
    });
  }

  async live(projectId: string, userId: string): Promise<Session[]> {
    return sessionsOf(this.#selectLive.all(projectId, userId));
  }

  async list(
    { projectId, userId, at }: { projectId: string; userId: string; at: Date },
    { from, limit }: ListRange,
  ): Promise<ListPage<Session>> {
    const { total } = this.#count.get(projectId, userId, at.getTime()) as { total: number };
    const skip = 'skip' in from ? from.skip : 0;
    if (skip >= total) return { rows: [], total };
    const after = 'after' in from ? from.after : '';
    return { rows: sessionsOf(this.#page.all(projectId, userId, at.getTime(), after, limit, skip)), total };
  }

  async revoked(after: string, limit: number): Promise<{ sid: string; at: Date; place: string }[]> {
    const rows = this.#selectRevoked.all(after, limit) as unknown as {
      sid: string;
      revokedAt: number;
      revokedPlace: string;
    }[];
    return rows.map((row) => ({ sid: row.sid, at: new Date(row.revokedAt), place: row.revokedPlace }));
  }

  async purge(at: Date): Promise<void> {
    this.#purge.run(at.getTime());
  }
}

function rowOf({ rotated, ...session }: Session): SessionRow {
  return {
    ...session,
    rotatedHash: rotated?.hash ?? null,
    rotatedSealed: rotated?.sealed ?? null,
    rotatedAt: rotated?.at.getTime() ?? null,
    createdAt: session.createdAt.getTime(),
    lastUsedAt: session.lastUsedAt.getTime(),
    expiresAt: session.expiresAt.getTime(),
    revokedAt: session.revokedAt?.getTime() ?? null,
  };
}

function sessionsOf(rows: object[]): Session[] {
  return rows.map(sessionOf).filter((session) => session !== null);
}

function sessionOf(found: object | undefined): Session | null {
  if (!found) return null;
  const { rotatedHash, rotatedSealed, rotatedAt, ...row } = found as SessionRow;
  return {
    ...row,
    rotated:
      rotatedHash !== null && rotatedSealed !== null && rotatedAt !== null
        ? { hash: rotatedHash, sealed: rotatedSealed, at: new Date(rotatedAt) }
        : null,
    createdAt: new Date(row.createdAt),
    lastUsedAt: new Date(row.lastUsedAt),
    expiresAt: new Date(row.expiresAt),
    revokedAt: row.revokedAt === null ? null : new Date(row.revokedAt),
  };
}
