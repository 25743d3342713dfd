import type { EventEnvelope } from '@kith/contracts';
import { apart, type Documents, type Stored, timeKey } from '@kith/store';
import { mailings, type StoredMailing } from './collections/mails.ts';
import { type StoredUser, users } from './collections/users.ts';
import { everything, nameKey, within } from './keys-of.ts';
import { dayMs, endedMailingRows, mailingRow, type NewMailing } from './mailing-row.ts';
import type { EndingReason, User } from './records.ts';
import { storedOf, type Taken, takenBy, userOf } from './user-document.ts';

/** A mail of a user, sent or not. */
export interface Mailing extends StoredMailing {
  id: string;
  projectId: string;
  userId: string;
  /** Distinguishes several mails of one kind to the same user (`NewMailing`). */
  name: string;
}

/** What changes in the user and in the user's mails when the token of a mail is used. */
export interface TokenUse {
  user: User;
  event: EventEnvelope | null;
  /**
   * Why the user's sessions end; absent if no session ends. If it is set, the mails whose tokens end with the sessions are
   * removed, too.
   */
  ending?: EndingReason;
  /** Which other mails are removed with the used mail. */
  drops?: (one: Mailing) => boolean;
  /** A mail that reports the change to the user. */
  mail?: NewMailing;
}

type UserChange = { set?: StoredUser; rows: Row[]; events?: EventEnvelope[] } | null;
interface Row {
  in: typeof mailings;
  id: string;
  put: StoredMailing | null;
}

/**
 * The maximum number of mails that one read returns. No user ever has so many mails (`mostUndos`), so one read returns all of
 * them.
 */
const most = 1_000;

/**
 * Mails to users, and the hashes of their tokens. Each change of a mail is stored in one write with the user's document. So a
 * mail is stored if and only if the change that it reports is stored. One write applies the effect of a token and makes the
 * token invalid (docs/adr/0051).
 */
export class Mailings {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /**
   * Stores a mail that is to be sent. Until the mail is sent, the token of an earlier mail of this kind to the same address
   * stays valid. Returns `false` if the user is gone.
   * @param check If given, gets the user as stored, and throws if the mail must not be stored. It may be called several times.
   */
  async add(
    user: Pick<User, 'projectId' | 'id'>,
    mail: NewMailing,
    check?: (user: User) => Promise<void>,
  ): Promise<boolean> {
    const key = `${user.projectId}|${user.id}`;
    const made = await this.#change(key, mailingRow(user, mail, new Date()).id, async (read, before) => {
      await check?.(read);
      const token = before?.address === mail.address ? before.token : null;
      return { rows: [mailingRow(user, mail, new Date(), token)] };
    });
    return made === 'stored';
  }

  /** Mails that are due, earliest first. */
  async due(at: Date, limit: number): Promise<Mailing[]> {
    const range = { ...everything, below: timeKey(at.getTime()), limit };
    return (await this.#documents.range(mailings, range, 'waiting')).map(mailingOf);
  }

  /**
   * Reserves a due mail for sending until `dueAt`, and stores its new token. If the mail is not recorded as sent by then, it is
   * due again. Returns the mail's user. Returns null if another process has reserved the mail, or if the mail need not be sent
   * any more.
   */
  async take(
    { id, waiting }: Mailing,
    { dueAt, token }: { dueAt: Date; token: StoredMailing['token'] },
  ): Promise<User | null> {
    let user: User | null = null;
    const made = await this.#change(userIn(id), id, (read, row) => {
      if (!row?.waiting || !isSame(row.waiting, waiting)) return null;
      user = read;
      const next = { ...row.waiting, dueAt: dueAt.getTime(), tries: row.waiting.tries + 1 };
      // The token's time begins now, and not when the mail was requested.
      const until = Math.max(row.until, token?.until ?? 0);
      return { rows: [{ in: mailings, id, put: { ...row, token, waiting: next, until } }] };
    });
    return made === 'stored' ? user : null;
  }

  /**
   * Records the result of attempt number `tries` to send a mail: the mail stops waiting, or waits until `again` and stays
   * stored for at least a day after `again`. If another mail was requested meanwhile, does nothing.
   */
  async settle({ id, waiting }: Mailing, { tries, again }: { tries: number; again?: Date }): Promise<void> {
    await this.#change(userIn(id), id, (_, row) => {
      if (!row?.waiting || row.waiting.since !== waiting?.since || row.waiting.tries !== tries) return null;
      const next = again ? { ...row.waiting, dueAt: again.getTime() } : null;
      const isOver = next === null && row.token === null && row.kind !== 'emailChanged';
      const until = next ? Math.max(row.until, next.dueAt + dayMs) : row.until;
      return { rows: [{ in: mailings, id, put: isOver ? null : { ...row, waiting: next, until } }] };
    });
  }

  /** The mail whose token has this hash, unless the token has expired. */
  async byToken(projectId: string, hash: string): Promise<Mailing | null> {
    const key = `${projectId}|${hash}`;
    const [found] = (await this.#documents.by(mailings, 'token', [key])).get(key) ?? [];
    const mailing = found ? mailingOf(found) : null;
    return mailing && hasToken(mailing, hash) ? mailing : null;
  }

  /**
   * Makes a token invalid, and changes the user as `change` says, in one write. `change` may be called several times. If it
   * returns null, nothing is changed, and the result is `unusable`. The result is also `unusable` if the token has expired or
   * was used meanwhile.
   */
  async use(
    { id, token }: Mailing,
    change: (user: User, mailing: Mailing) => TokenUse | null,
  ): Promise<{ user: User } | 'unusable' | Taken> {
    let after: User | undefined;
    const made = await this.#change(userIn(id), id, async (user, row, doc) => {
      if (!row || !token || !hasToken(row, token.hash)) return null;
      const used = change(user, mailingOf({ id, doc: row }));
      if (!used) return null;
      after = used.user;
      const others = used.drops ? (await this.of(user)).filter(used.drops) : [];
      const ended = used.ending ? endedMailingRows(user) : [];
      const dropped = new Set([id, ...[...ended, ...others].map((one) => one.id)]);
      const rows: Row[] = [...dropped].map((one) => ({ in: mailings, id: one, put: null }));
      if (used.mail) rows.push(mailingRow(user, used.mail, new Date()));
      const set = { ...storedOf(used.user), ending: used.ending ?? doc.ending };
      return { set, rows, events: used.event ? [used.event] : [] };
    });
    if (made === 'stored' && after) return { user: after };
    return made === 'stored' || made === 'stale' ? 'unusable' : made;
  }

  /**
   * Compares the hash of the code that a user gives with the hash of the mailed code. If both are equal and the code is still
   * valid, returns the mail. Otherwise returns null and counts a wrong code. After `mostFailures` wrong codes, the mailed code
   * is invalid.
   */
  async tryCode(
    user: Pick<User, 'projectId' | 'id'>,
    hash: string,
    mostFailures: number,
  ): Promise<Mailing | null> {
    const key = `${user.projectId}|${user.id}`;
    const id = `${key}|verificationCode`;
    const found = (await this.#documents.get(mailings, [id])).get(id);
    if (!found) return null;
    const mailing = mailingOf(found);
    if (hasToken(mailing, hash)) return mailing;
    const fail = (_: User, row: StoredMailing | undefined) => {
      if (!row?.token) return null;
      const failures = row.token.failures + 1;
      const token = failures < mostFailures ? { ...row.token, failures } : null;
      return { rows: [{ in: mailings, id, put: { ...row, token } }] };
    };
    await apart(() => this.#change(key, id, fail));
    return null;
  }

  /** All mails of a user. */
  async of({ projectId, id }: Pick<User, 'projectId' | 'id'>): Promise<Mailing[]> {
    const range = { ...within(projectId, id), limit: most };
    return (await this.#documents.range(mailings, range)).map(mailingOf);
  }

  /**
   * The id of another user who had this address not long ago and may still take it back (spec#accounts-old-address). Null if
   * there is none.
   */
  async keeperOf(projectId: string, address: string, at: Date, userId?: string): Promise<string | null> {
    const key = nameKey(projectId, address);
    // If a user has just changed the address, the row with the old address may not be written yet. So `settle` first completes
    // the changes of the project's users.
    await this.#documents.settle(users, within(projectId));
    const found = (await this.#documents.by(mailings, 'kept', [key])).get(key) ?? [];
    const isAnother = (one: Mailing) => one.userId !== userId && one.until > at.getTime();
    return found.map(mailingOf).find(isAnother)?.userId ?? null;
  }

  /**
   * Changes the stored user and rows in one write. `make` may be called several times. If it returns null, nothing changes, and
   * the result is `stale`. If the user is gone, removes the row, so that it is not due again and again.
   */
  async #change(
    key: string,
    id: string,
    make: (user: User, row: StoredMailing | undefined, doc: StoredUser) => UserChange | Promise<UserChange>,
  ): Promise<'stored' | 'stale' | Taken> {
    for (;;) {
      // `settled` first completes the user's last change. So the mail's row, which is read next, belongs to the same state of
      // the user.
      const target = (await this.#documents.get(users, [key], { settled: true })).get(key);
      if (!target) {
        await this.#documents.clearIds(mailings, [id]);
        return 'stale';
      }
      const row = (await this.#documents.get(mailings, [id])).get(id)?.doc;
      const change = await make(userOf(target), row, target.doc);
      if (!change) return 'stale';
      const { set = target.doc, ...others } = change;
      const [outcome] = await this.#documents.change([{ in: users, target, set, ...others }]);
      if (outcome === 'made') return 'stored';
      if (typeof outcome === 'object') return takenBy(outcome);
    }
  }
}

function mailingOf({ id, doc }: Stored<StoredMailing>): Mailing {
  const [projectId = '', userId = '', , name = ''] = id.split('|');
  return { ...doc, id, projectId, userId, name };
}

function userIn(id: string): string {
  return id.split('|').slice(0, 2).join('|');
}

function hasToken({ token }: StoredMailing, hash: string): boolean {
  return token !== null && token.hash === hash && token.until > Date.now();
}

function isSame(one: StoredMailing['waiting'], other: StoredMailing['waiting']): boolean {
  return one?.since === other?.since && one?.dueAt === other?.dueAt && one?.tries === other?.tries;
}
