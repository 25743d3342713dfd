import type { EventEnvelope } from '@kith/contracts';
import type { Documents } from '@kith/store';
import { seen, users } from './collections/users.ts';
import { nameKey, userKey } from './keys-of.ts';
import { mailingRow, type NewMailing } from './mailing-row.ts';
import type { User } from './records.ts';
import { changeUser, storedOf, type Taken, takenBy, userOf } from './user-document.ts';

/** Users. Each change is stored with its event. */
export class Users {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /**
   * Stores a new user with its event and, if `mail` is given, a mail to the user. If several names are taken, returns only one
   * of them. The foreign id comes before the e-mail address, and the e-mail address before the username.
   */
  async add(user: User, event: EventEnvelope, mail?: NewMailing): Promise<'stored' | Taken> {
    const rows = mail ? [mailingRow(user, mail, user.createdAt)] : [];
    const [outcome] = await this.#documents.change([
      { in: users, target: userKey(user.projectId, user.id), set: storedOf(user), rows, events: [event] },
    ]);
    if (outcome === 'made') return 'stored';
    if (typeof outcome === 'object' && outcome.taken !== 'id') return takenBy(outcome);
    throw new Error(`There is a user with the new id ${user.id}.`);
  }

  /**
   * Stores a user's profile, `role`, `reputation`, `updatedAt`, `rev` and `seq` with the event of the change. `rev` must be the
   * stored `rev` plus one. Otherwise stores nothing and returns `stale`.
   */
  async update(user: User, event: EventEnvelope): Promise<'stored' | 'stale' | 'username-taken'> {
    const { username, name, avatar, bio, location, birthdate, metadata, rev, seq } = user;
    const { avatarFileId, bannerFileId, role, reputation } = user;
    const profile = {
      ...{ username, name, avatar, bio, location, birthdate, metadata },
      ...{ avatarFileId, bannerFileId, role, reputation },
    };
    const updatedAt = user.updatedAt.getTime();
    const outcome = await changeUser(this.#documents, { ...user, rev: rev - 1 }, (doc) => ({
      set: { ...doc, ...profile, updatedAt, rev, seq },
      events: [event],
    }));
    // The username is the only part of a profile that must be unique. So if a unique value is taken, it is the username.
    return outcome === 'stored' || outcome === 'stale' ? outcome : 'username-taken';
  }

  /** Stores the values that operators set (`role`, `reputation`, `isVerified`) in the same way as `update`. */
  async updateStanding(user: User, event: EventEnvelope): Promise<'stored' | 'stale'> {
    const { role, reputation, isVerified, rev, seq } = user;
    const updatedAt = user.updatedAt.getTime();
    const outcome = await changeUser(this.#documents, { ...user, rev: rev - 1 }, (doc) => ({
      set: { ...doc, role, reputation, isVerified, updatedAt, rev, seq },
      events: [event],
    }));
    return outcome === 'stored' ? 'stored' : 'stale';
  }

  /** Records a sign-in. This does not count as a change of the user, so `rev` stays the same, and there is no event. */
  async touch(projectId: string, userId: string, at: Date): Promise<void> {
    const copy = {
      id: userKey(projectId, userId),
      doc: { at: at.getTime() },
      epoch: 0,
      version: at.getTime(),
    };
    await this.#documents.keep(seen, [copy]);
  }

  /** A user with its last sign-in. */
  async find(projectId: string, userId: string): Promise<User | null> {
    const id = userKey(projectId, userId);
    const [user, found] = await Promise.all([
      this.account(projectId, userId),
      this.#documents.get(seen, [id]),
    ]);
    return user && later(user, found.get(id)?.doc.at);
  }

  /** Finds a user, but does not look up the last sign-in. So `lastActive` may be an earlier sign-in. */
  async account(projectId: string, userId: string): Promise<User | null> {
    return (await this.findMany(projectId, [userId]))[0] ?? null;
  }

  /**
   * Finds a user by e-mail address. `lastActive` may be an earlier sign-in.
   * @param email Lower-cased.
   */
  async findByEmail(projectId: string, email: string): Promise<User | null> {
    const key = nameKey(projectId, email);
    const [found] = (await this.#documents.by(users, 'email', [key])).get(key) ?? [];
    return found ? userOf(found) : null;
  }

  /** The existing users with these ids, in no particular order; `lastActive` may be an earlier sign-in. */
  async findMany(projectId: string, userIds: readonly string[]): Promise<User[]> {
    const ids = userIds.map((userId) => userKey(projectId, userId));
    return [...(await this.#documents.get(users, ids)).values()].map(userOf);
  }

  /** Returns the users with their last sign-ins. */
  async withSignIns(some: readonly User[]): Promise<User[]> {
    const ids = some.map(({ projectId, id }) => userKey(projectId, id));
    const found = await this.#documents.get(seen, ids);
    return some.map((user, at) => later(user, found.get(ids[at] as string)?.doc.at));
  }
}

function later(user: User, at: number | undefined): User {
  return at === undefined || at < Number(user.lastActive) ? user : { ...user, lastActive: new Date(at) };
}
