import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventEnvelope } from '@kith/contracts';
import type { Documents, Stored } from '@kith/store';
import { type ListPage, type ListRange, placeOf } from '../listing.ts';
import { type StoredSession, sessions } from './collections.ts';
import { everything, lastIn, projectIn, revokedPlace, userKey, within } from './keys-of.ts';
import type { Session } from './records.ts';
import { dateOf } from './user-document.ts';

/** The fields that a rotation changes. */
export type Rotation = Pick<
  Session,
  'tokenHash' | 'rotated' | 'lastUsedAt' | 'expiresAt' | 'userAgent' | 'ip'
>;

export interface Revocation {
  at: Date;
  keepUntil: Date;
  event: EventEnvelope;
  /** Hash of the token that was valid when the decision to revoke was made. */
  judged?: string | undefined;
}

/** How many sessions are read at a time. A user has few sessions. */
const batch = 1_000;

/** Sessions of users, and the list of revoked ones. */
export class Sessions {
  readonly #documents: Documents;
  /** The document from which each session was read. A change compares the version of this document. */
  readonly #read = new WeakMap<Session, Stored<StoredSession>>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async add(session: Session): Promise<void> {
    const { sid, projectId, userId, createdAt, lastUsedAt, expiresAt, revokedAt, ...rest } = session;
    const times = { createdAt: createdAt.getTime(), lastUsedAt: lastUsedAt.getTime() };
    const ends = { expiresAt: expiresAt.getTime(), revokedAt: revokedAt?.getTime() ?? null };
    const set = { ...rest, ...times, ...ends };
    const [outcome] = await this.#documents.change([{ in: sessions, target: sessionKey(session), set }]);
    if (outcome !== 'made') throw new Error(`There is a session with the new id ${sid}.`);
  }

  async find(projectId: string, userId: string, sid: string): Promise<Session | null> {
    return (await this.#all(projectId, userId)).find((session) => session.sid === sid) ?? null;
  }

  async findFamily(projectId: string, familyHash: string): Promise<Session | null> {
    const key = `${projectId}|${familyHash}`;
    const [found] = (await this.#documents.by(sessions, 'family', [key])).get(key) ?? [];
    return found ? this.#sessionOf(found) : null;
  }

  /** Stores a rotation. Returns `false` if the session has been rotated, revoked or removed since it was read. */
  async rotate(session: Session, next: Rotation): Promise<boolean> {
    const target = await this.#asRead(session);
    if (!target || target.doc.revokedAt !== null || target.doc.tokenHash !== session.tokenHash) return false;
    const { tokenHash, rotated, userAgent, ip } = next;
    const times = { lastUsedAt: next.lastUsedAt.getTime(), expiresAt: next.expiresAt.getTime() };
    const set = { ...target.doc, tokenHash, rotated, userAgent, ip, ...times };
    return (await this.#documents.change([{ in: sessions, target, set }]))[0] === 'made';
  }

  /**
   * Revokes a session for good, stores the event with it, and forgets the device and the sealed token. The session is removed
   * after `keepUntil`. Returns `false` if the session is gone or was revoked before. If `judged` is given and another token is
   * valid by now, also returns `false`.
   */
  async revoke(session: Session, { at, keepUntil, event, judged }: Revocation): Promise<boolean> {
    const forgotten = { rotated: null, userAgent: null, ip: null };
    const ended = { revokedAt: at.getTime(), expiresAt: keepUntil.getTime() };
    for (let target = await this.#asRead(session); target; target = await this.#stored(session)) {
      const { doc } = target;
      if (doc.revokedAt !== null || (judged !== undefined && doc.tokenHash !== judged)) return false;
      const set = { ...doc, ...forgotten, ...ended };
      const [outcome] = await this.#documents.change([{ in: sessions, target, set, events: [event] }]);
      if (outcome === 'made') return true;
    }
    return false;
  }

  /**
   * Makes a user's revoked sessions expire at the time that `endOf` returns for their revocation, unless they expire earlier.
   * Repeatable.
   */
  async shorten(projectId: string, userId: string, endOf: (revokedAt: Date) => Date): Promise<void> {
    for (const session of await this.#all(projectId, userId)) {
      const { revokedAt } = session;
      if (revokedAt === null) continue;
      const expiresAt = endOf(revokedAt).getTime();
      for (let target = await this.#asRead(session); target; target = await this.#stored(session)) {
        const { doc } = target;
        if (doc.expiresAt <= expiresAt) break;
        const set = { ...doc, expiresAt };
        if ((await this.#documents.change([{ in: sessions, target, set }]))[0] === 'made') break;
      }
    }
  }

  /** Whether the session's `rotated` token was rotated within the last `ms`, by the database's time. */
  async rotatedWithin(session: Session, ms: number): Promise<boolean> {
    const read = await this.#asRead(session);
    // The last change of an open session is always its rotation.
    if (!read || !session.rotated || read.doc.rotated?.hash !== session.rotated.hash) return false;
    return this.#documents.changedWithin(sessions, read, ms);
  }

  /** A user's sessions that are not revoked. */
  async live(projectId: string, userId: string): Promise<Session[]> {
    return (await this.#all(projectId, userId)).filter(({ revokedAt }) => revokedAt === null);
  }

  /** A page of a user's sessions that are neither revoked nor expired at `at`, newest first. */
  async list(
    { projectId, userId, at }: { projectId: string; userId: string; at: Date },
    { from, limit }: ListRange,
  ): Promise<ListPage<Session>> {
    const open = (await this.live(projectId, userId)).filter(({ expiresAt }) => expiresAt > at);
    const isAfter = ({ createdAt, sid }: Session) =>
      'skip' in from || placeOf({ createdAt, id: sid }) > from.after;
    const skip = 'skip' in from ? from.skip : 0;
    return { rows: open.filter(isAfter).slice(skip, skip + limit), total: open.length };
  }

  /** Sessions revoked after a `revokedPlace`, in the order of these places. */
  async revoked(after: string, limit: number): Promise<{ sid: string; at: Date; place: string }[]> {
    const found = await this.#documents.range(sessions, { ...everything, above: after, limit }, 'revoked');
    return found.map(({ id, doc }) => {
      const [sid, at] = [lastIn(id), new Date(doc.revokedAt ?? 0)];
      return { sid, at, place: revokedPlace(at, sid) };
    });
  }

  /** All sessions of a user, revoked ones too, newest first. */
  async #all(projectId: string, userId: string): Promise<Session[]> {
    const all: Session[] = [];
    for (let range = within(projectId, userId); ; ) {
      const some = await this.#documents.range(sessions, { ...range, limit: batch });
      all.push(...some.map((one) => this.#sessionOf(one)));
      const last = some.at(-1);
      if (!last || some.length < batch) return all;
      range = { ...range, above: last.id };
      await nextTurn();
    }
  }

  async #asRead(session: Session): Promise<Stored<StoredSession> | undefined> {
    return this.#read.get(session) ?? this.#stored(session);
  }

  async #stored(session: Session): Promise<Stored<StoredSession> | undefined> {
    const id = sessionKey(session);
    return (await this.#documents.get(sessions, [id])).get(id);
  }

  #sessionOf(read: Stored<StoredSession>): Session {
    const { id, doc } = read;
    const session = {
      ...doc,
      sid: lastIn(id),
      projectId: projectIn(id),
      userId: id.split('|')[1] ?? '',
      createdAt: new Date(doc.createdAt),
      lastUsedAt: new Date(doc.lastUsedAt),
      expiresAt: new Date(doc.expiresAt),
      revokedAt: dateOf(doc.revokedAt),
    };
    this.#read.set(session, read);
    return session;
  }
}

/** The id of a session. It consists of the user and of the session's place in the user's list (docs/adr/0006). */
function sessionKey({ projectId, userId, createdAt, sid }: Session): string {
  return `${userKey(projectId, userId)}|${placeOf({ createdAt, id: sid })}`;
}
