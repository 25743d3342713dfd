import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventEnvelope } from '@kith/contracts';
import { afterChange, type Documents, type Stored } from '@kith/store';
import { type ListPage, type ListRange, placeOf } from '../listing.ts';
import { type StoredSession, sessions, sessionUses } from './collections/sign-in.ts';
import { everything, lastIn, projectIn, revokedPlace, usedPlace, userKey, within } from './keys-of.ts';
import type { Session } from './records.ts';
import { dateOf } from './user-document.ts';

/** The fields of a session that change when its refresh token is replaced (a "rotation"). */
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

/**
 * How many sessions are read at a time. A user may have many stored sessions, because revoked sessions stay stored for at least
 * half an hour.
 */
const batch = 500;
/**
 * The maximum number of sessions that one new session ends. Usually a new session ends at most one. It ends more only if
 * processes died after they had opened sessions and before they ended others.
 */
const mostSurplus = 20;

/** Sessions of users, and the list of revoked ones. */
export class Sessions {
  readonly #documents: Documents;
  /**
   * The document from which each session was read. A change of the session succeeds only if the stored document still has the
   * version of this document.
   */
  readonly #read = new WeakMap<Session, Stored<StoredSession>>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /**
   * Stores a new session. The session is removed at `until`, unless `extend` is called before then. By default, `until` is the
   * time at which the session expires.
   */
  async add(session: Session, until = session.expiresAt): Promise<void> {
    const { sid, projectId, userId, createdAt, lastUsedAt, expiresAt, revokedAt, ...rest } = session;
    const times = { createdAt: createdAt.getTime(), lastUsedAt: lastUsedAt.getTime() };
    const ends = { expiresAt: until.getTime(), revokedAt: revokedAt?.getTime() ?? null };
    const id = sessionKey(session);
    const [[outcome]] = await Promise.all([
      this.#documents.change([{ in: sessions, target: id, set: { ...rest, ...times, ...ends } }]),
      afterChange(() => this.#used(id, session, 1)),
    ]);
    if (outcome !== 'made') throw new Error(`There is a session with the new id ${sid}.`);
  }

  /** Reads a session again; null if it was removed. */
  async again(session: Session): Promise<Session | null> {
    const stored = await this.#stored(session);
    return stored ? this.#sessionOf(stored) : null;
  }

  /**
   * Makes a session last until `expiresAt`. Returns `false` if the session has been changed since it was read, or was revoked.
   */
  async extend(session: Session, expiresAt: Date): Promise<boolean> {
    const target = await this.#asRead(session);
    if (!target || target.doc.revokedAt !== null) return false;
    const set = { ...target.doc, expiresAt: expiresAt.getTime() };
    return (await this.#documents.change([{ in: sessions, target, set }]))[0] === 'made';
  }

  async find(projectId: string, userId: string, sid: string): Promise<Session | null> {
    for await (const some of this.#pages(projectId, userId)) {
      const found = some.find((session) => session.sid === sid);
      if (found) return found;
    }
    return null;
  }

  /**
   * If a user has more than `most` sessions, returns the sessions that have to end. The `most` sessions that were used most
   * recently stay. No more than `mostSurplus` sessions are returned at a time. `newest` counts as one of the user's sessions,
   * but is never returned. Revoked sessions are not read, so they do not make this slower.
   */
  async surplus(newest: Session, most: number): Promise<Session[]> {
    const { projectId, userId, lastUsedAt } = newest;
    const own = usedPlace(sessionKey(newest), lastUsedAt.getTime());
    const others = { ...within(projectId, userId), except: [own], backwards: true as const };
    const found = await this.#documents.range(
      sessionUses,
      { ...others, skip: most - 1, limit: mostSurplus },
      'used',
    );
    const ids = found.map(({ id }) => id);
    if (ids.length === 0) return [];
    const stored = await this.#documents.get(sessions, ids);
    const isLive = (id: string) => stored.get(id)?.doc.revokedAt === null;
    // These rows were left behind by a process that died after it had revoked the session, or before it had stored the session.
    const left = ids.filter((id) => !isLive(id));
    if (left.length > 0) await this.#documents.clearIds(sessionUses, left);
    return ids.filter(isLive).map((id) => this.#sessionOf(stored.get(id)!));
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
    if ((await this.#documents.change([{ in: sessions, target, set }]))[0] !== 'made') return false;
    await this.#used(target.id, next);
    return true;
  }

  /**
   * Revokes a session permanently, stores the event with it, and forgets the device and the sealed token. The session is
   * removed after `keepUntil`. Returns `false` if the session is gone or was revoked before. Also returns `false` if `judged`
   * is given and the session's valid token is another one by now.
   */
  async revoke(session: Session, { at, keepUntil, event, judged }: Revocation): Promise<boolean> {
    const forgotten = { rotated: null, userAgent: null, ip: null };
    const ended = { revokedAt: at.getTime(), expiresAt: keepUntil.getTime() };
    for (let target = await this.#asRead(session); target; target = await this.#stored(session)) {
      const { doc } = target;
      if (doc.revokedAt !== null || (judged !== undefined && doc.tokenHash !== judged)) return false;
      const set = { ...doc, ...forgotten, ...ended };
      const { id } = target;
      const change = { in: sessions, target, set, erases: true, events: [event] };
      const [outcome] = await this.#documents.change([change]);
      if (outcome !== 'made') continue;
      await afterChange(() => this.#documents.clearIds(sessionUses, [id]));
      return true;
    }
    return false;
  }

  /**
   * For each revoked session of a user, calls `endOf` with the time of the revocation, and makes the session expire at the
   * returned time. A session that expires earlier stays as it is. Idempotent.
   */
  async shorten(projectId: string, userId: string, endOf: (revokedAt: Date) => Date): Promise<void> {
    for await (const some of this.#pages(projectId, userId)) {
      for (const session of some) {
        if (session.revokedAt !== null) await this.#shorten(session, endOf(session.revokedAt).getTime());
      }
    }
  }

  async #shorten(session: Session, expiresAt: number): Promise<void> {
    for (let target = await this.#asRead(session); target; target = await this.#stored(session)) {
      const { doc } = target;
      if (doc.expiresAt <= expiresAt) return;
      const set = { ...doc, expiresAt };
      if ((await this.#documents.change([{ in: sessions, target, set }]))[0] === 'made') return;
    }
  }

  /** Whether the session's token `rotated` was replaced within the last `ms`, by the clock of the database. */
  async rotatedWithin(session: Session, ms: number): Promise<boolean> {
    const read = await this.#asRead(session);
    // Only a rotation changes an open session that has a `rotated` token. So the time of the last change is the time of the
    // rotation.
    if (!read || !session.rotated || read.doc.rotated?.hash !== session.rotated.hash) return false;
    return this.#documents.changedWithin(sessions, read, ms);
  }

  /** A user's sessions that are not revoked, newest first, in batches. */
  async *live(projectId: string, userId: string): AsyncGenerator<Session[]> {
    for await (const some of this.#pages(projectId, userId))
      yield some.filter(({ revokedAt }) => revokedAt === null);
  }

  /** A page of a user's sessions that are neither revoked nor expired at `at`, newest first. */
  async list(
    { projectId, userId, at }: { projectId: string; userId: string; at: Date },
    { from, limit }: ListRange,
  ): Promise<ListPage<Session>> {
    const rows: Session[] = [];
    let total = 0;
    for await (const some of this.live(projectId, userId)) {
      for (const session of some) {
        const { createdAt, sid, expiresAt } = session;
        if (expiresAt <= at) continue;
        const isDue = 'skip' in from ? total >= from.skip : placeOf({ createdAt, id: sid }) > from.after;
        if (isDue && rows.length < limit) rows.push(session);
        total++;
      }
    }
    return { rows, total };
  }

  /** Erases the times at which the sessions of a user were used. Called while the user is being erased. Idempotent. */
  async forgetUses(projectId: string, userId: string): Promise<void> {
    while ((await this.#documents.clear(sessionUses, { ...within(projectId, userId), limit: batch })) > 0);
  }

  /** Sessions revoked after a `revokedPlace`, in the order of these places. */
  async revoked(after: string, limit: number): Promise<{ sid: string; at: Date; place: string }[]> {
    const found = await this.#documents.range(sessions, { ...everything, above: after, limit }, 'revoked');
    return found.map(({ id, doc }) => {
      const [sid, at] = [lastIn(id), new Date(doc.revokedAt ?? 0)];
      return { sid, at, place: revokedPlace(at, sid) };
    });
  }

  /** All sessions of a user, including revoked ones, newest first, in batches. */
  async *#pages(projectId: string, userId: string): AsyncGenerator<Session[]> {
    for (let range = within(projectId, userId); ; ) {
      const some = await this.#documents.range(sessions, { ...range, limit: batch });
      yield some.map((one) => this.#sessionOf(one));
      const last = some.at(-1);
      if (!last || some.length < batch) return;
      range = { ...range, above: last.id };
      await nextTurn();
    }
  }

  /**
   * Stores the time at which a session was used. Because of the `version`, a later use always replaces an earlier one, and
   * never the other way round. The first use has version 1.
   */
  async #used(
    id: string,
    { lastUsedAt, expiresAt }: Pick<Session, 'lastUsedAt' | 'expiresAt'>,
    version = lastUsedAt.getTime(),
  ): Promise<void> {
    const doc = { usedAt: lastUsedAt.getTime(), until: expiresAt.getTime() };
    await this.#documents.keep(sessionUses, [{ id, doc, epoch: 0, version }]);
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
