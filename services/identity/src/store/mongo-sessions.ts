import { type OutboxFields, outboxFields, outboxIndex } from '@kith/service';
import type { Collection, Db, IndexDescription } from 'mongodb';
import { type ListPage, type ListRange, placeOf } from '../listing.ts';
import { type Revocation, revokedPlace, type Session, type SessionStore } from './sessions.ts';

interface SessionDocument extends Omit<Session, 'expiresAt'>, OutboxFields {
  /** `<projectId>|<userId>|<place>`: its place in the list of the user's sessions (docs/adr/0006). */
  _id: string;
  /** Absent of a revoked one: the server deletes by it, and must not take an event away that is still to be copied. */
  expiresAt?: Date;
  /** Of a revoked one: when it goes. */
  purgeAt?: Date;
  revokedPlace?: string;
}

export const sessionIndexes: readonly IndexDescription[] = [
  { name: 'sid', key: { sid: 1 } },
  { name: 'family', key: { familyHash: 1 } },
  { name: 'expire', key: { expiresAt: 1 }, expireAfterSeconds: 0 },
  { name: 'purge', key: { purgeAt: 1 }, partialFilterExpression: { purgeAt: { $exists: true } } },
  {
    name: 'revoked',
    key: { revokedPlace: 1 },
    partialFilterExpression: { revokedPlace: { $exists: true } },
  },
  outboxIndex,
];

/** Sessions on MongoDB: one document a session, with the event of its revocation until that is copied out. */
export class MongoSessions implements SessionStore {
  readonly #sessions: Collection<SessionDocument>;

  constructor(db: Db) {
    this.#sessions = db.collection('sessions');
  }

  async add(session: Session): Promise<void> {
    await this.#sessions.insertOne({ _id: idOf(session), ...session });
  }

  async find(projectId: string, userId: string, sid: string): Promise<Session | null> {
    return sessionOf(await this.#sessions.findOne({ sid, projectId, userId }));
  }

  async findFamily(projectId: string, familyHash: string): Promise<Session | null> {
    return sessionOf(await this.#sessions.findOne({ familyHash, projectId }));
  }

  async rotate(session: Session, from: string): Promise<boolean> {
    const { tokenHash, rotated, lastUsedAt, expiresAt, userAgent, ip } = session;
    // In a pipeline a text that begins with a dollar is no text.
    const { matchedCount } = await this.#sessions.updateOne(
      { _id: idOf(session), tokenHash: from, revokedAt: null },
      [
        {
          $set: {
            tokenHash: { $literal: tokenHash },
            rotated: rotated && {
              hash: { $literal: rotated.hash },
              sealed: { $literal: rotated.sealed },
              at: '$$NOW',
            },
            lastUsedAt,
            expiresAt,
            userAgent: { $literal: userAgent },
            ip: { $literal: ip },
          },
        },
      ],
    );
    return matchedCount > 0;
  }

  async rotatedWithin(session: Session, ms: number): Promise<boolean> {
    const since = { $subtract: ['$$NOW', ms] };
    const found = await this.#sessions.findOne({
      _id: idOf(session),
      'rotated.hash': session.rotated?.hash,
      $expr: { $gte: ['$rotated.at', since] },
    });
    return found !== null;
  }

  async revoke(session: Session, { at, keepUntil, event, judged }: Revocation): Promise<boolean> {
    const forgotten = { rotated: null, userAgent: null, ip: null };
    const { matchedCount } = await this.#sessions.updateOne(
      { _id: idOf(session), revokedAt: null, ...(judged === undefined ? {} : { tokenHash: judged }) },
      {
        $set: {
          ...forgotten,
          revokedAt: at,
          revokedPlace: revokedPlace(at, session.sid),
          purgeAt: keepUntil,
          ...outboxFields([event]),
        },
        $unset: { expiresAt: '' },
      },
    );
    return matchedCount > 0;
  }

  async live(projectId: string, userId: string): Promise<Session[]> {
    const found = await this.#sessions.find(ofUser(projectId, userId)).toArray();
    return found.map(sessionOf).filter((session) => session !== null);
  }

  async list(
    { projectId, userId, at }: { projectId: string; userId: string; at: Date },
    { from, limit }: ListRange,
  ): Promise<ListPage<Session>> {
    const all = { ...ofUser(projectId, userId), expiresAt: { $gt: at } };
    const total = await this.#sessions.countDocuments(all);
    const skip = 'skip' in from ? from.skip : 0;
    if (skip >= total) return { rows: [], total };
    const filter = {
      ...all,
      ...ofUser(projectId, userId, 'after' in from ? from.after : ''),
    };
    const found = await this.#sessions.find(filter, { sort: { _id: 1 }, skip, limit }).toArray();
    return { rows: found.map(sessionOf).filter((session) => session !== null), total };
  }

  async revoked(after: string, limit: number): Promise<{ sid: string; at: Date; place: string }[]> {
    const found = await this.#sessions
      .find({ revokedPlace: { $gt: after } }, { sort: { revokedPlace: 1 }, limit })
      .toArray();
    return found.flatMap(({ sid, revokedAt, revokedPlace: place }) =>
      revokedAt && place ? [{ sid, at: revokedAt, place }] : [],
    );
  }

  async purge(at: Date): Promise<void> {
    // The date says it is a range: some servers use a partial index for nothing less.
    await this.#sessions.deleteMany({
      purgeAt: { $gt: new Date(0), $lt: at },
      outboxAt: { $exists: false },
    });
  }
}

/** Filter for a user's sessions that are not revoked, those after a place. */
function ofUser(projectId: string, userId: string, after = '') {
  const list = `${projectId}|${userId}`;
  // The character after the bar.
  return { _id: { $gt: `${list}|${after}`, $lt: `${list}}` }, revokedAt: null };
}

function idOf({ projectId, userId, createdAt, sid }: Session): string {
  return `${projectId}|${userId}|${placeOf({ createdAt, id: sid })}`;
}

function sessionOf(document: SessionDocument | null): Session | null {
  if (!document) return null;
  const { _id, expiresAt, purgeAt, revokedPlace: place, outbox, outboxAt, ...session } = document;
  return { ...session, expiresAt: expiresAt ?? purgeAt ?? new Date(0) };
}
