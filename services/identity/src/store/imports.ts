import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Documents, Stored } from '@kith/store';
import { endedIds } from '../user-ids.ts';
import { mailings, type StoredMailing } from './collections/mails.ts';
import { hashKinds } from './collections/projects.ts';
import { endedUsers, users } from './collections/users.ts';
import { lastIn, nameKey, userKey, within } from './keys-of.ts';
import type { User } from './records.ts';
import { changeUser, storedOf, type Taken, takenBy, userOf } from './user-document.ts';

/**
 * The outcome of an import for one user. `there`: the user that was already stored under this id. `deleted`: a user with this
 * id was deleted not long ago.
 */
export type ImportOutcome = 'stored' | { there: User } | 'deleted' | 'id-taken' | Taken;

/** How many users one change stores at most. In the embedded form, a change of more users would block the event loop too long. */
const atOnce = 500;
/**
 * An import fails after this many rounds in a row in which no user got an outcome. This can happen if concurrent imports are
 * storing the same ids.
 */
const attempts = 10;

/** Stores users of another backend. Their import makes no events, so their `seq` is 0 (docs/adr/0018). */
export class Imports {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /**
   * Stores new users. Returns the outcome for each user, in the given order. If several users in the list have the same id,
   * they are handled one after the other, in the given order. Existing users stay as they are. Two kinds of users are not
   * stored. The first are users with the id or foreign id of an ended account. The second are users with an address that
   * another user may still take back.
   */
  async add(projectId: string, some: readonly User[]): Promise<ImportOutcome[]> {
    const outcomes = new Map<User, ImportOutcome>();
    for (let left = some, inVain = 0; left.length > 0; left = left.filter((user) => !outcomes.has(user))) {
      if (inVain === attempts) throw new Error('After several rounds, some imported users have no outcome.');
      const before = outcomes.size;
      // In the embedded form, the database calls in this loop block the event loop. `nextTurn` lets other work run between
      // them.
      await nextTurn();
      await this.#addSome(projectId, left.slice(0, atOnce), outcomes);
      inVain = outcomes.size === before ? inVain + 1 : 0;
    }
    return some.flatMap((user) => outcomes.get(user) ?? []);
  }

  /** The given users who could not be stored at this moment, each with the outcome that `add` would return now. */
  async refusedNow(projectId: string, some: readonly User[]): Promise<Map<User, ImportOutcome>> {
    const outcomes = new Map<User, ImportOutcome>();
    if (some.length === 0) return outcomes;
    // If several names are taken, `add` reports the one whose index comes first in `users.indexes`. To report the same name,
    // this loop goes through the indexes in reverse order, and a later outcome replaces an earlier one.
    for (const index of ['username', 'email', 'foreignId', 'id']) {
      const keyOf = (user: User) =>
        users.indexes?.[index]?.key(storedOf(user), userKey(projectId, user.id)) || null;
      const keys = some.map(keyOf).filter((key) => key !== null);
      const taken = await this.#documents.idsBy(users, index, keys);
      const outcome = index === 'id' ? 'id-taken' : takenBy({ taken: index });
      for (const user of some) if (taken.has(keyOf(user) ?? '')) outcomes.set(user, outcome);
    }
    for (const [user, refusal] of await this.#refused(projectId, some)) outcomes.set(user, refusal);
    const there = await this.#findAll(projectId, some);
    for (const user of some) {
      const own = there.get(user.id);
      if (own) outcomes.set(user, { there: own });
    }
    return outcomes;
  }

  /**
   * Adds kinds of password hashes to the kinds of a project, as far as `mayAdd` allows it. Returns all kinds that the project
   * has afterwards.
   */
  async noteHashKinds(
    projectId: string,
    kinds: readonly string[],
    mayAdd: (known: readonly string[], kind: string) => boolean,
  ): Promise<string[]> {
    for (;;) {
      const read = (await this.#documents.get(hashKinds, [projectId])).get(projectId);
      const known = read?.doc.kinds ?? [];
      const all = [...known];
      for (const kind of kinds) if (!all.includes(kind) && mayAdd(all, kind)) all.push(kind);
      if (all.length === known.length) return all;
      const change = { in: hashKinds, target: read ?? projectId, set: { kinds: all } };
      if ((await this.#documents.change([change]))[0] === 'made') return all;
    }
  }

  /** The kinds of password hashes that were imported into a project. */
  async hashKinds(projectId: string): Promise<string[]> {
    return (await this.#documents.get(hashKinds, [projectId])).get(projectId)?.doc.kinds ?? [];
  }

  /** Replaces a user's password hash `from` by `to`. Does nothing if another hash is stored by now. */
  async replaceHash(
    { projectId, id }: Pick<User, 'projectId' | 'id'>,
    from: string,
    to: string,
  ): Promise<void> {
    await changeUser(this.#documents, { projectId, id }, (doc) =>
      doc.passwordHash === from ? { set: { ...doc, passwordHash: to } } : null,
    );
  }

  /** Which of these ids and foreign ids belong to users of a project. */
  async known(
    projectId: string,
    of: { ids: readonly string[]; foreignIds: readonly string[] },
  ): Promise<{ ids: string[]; foreignIds: { foreignId: string; id: string }[] }> {
    const names = of.foreignIds.map((foreignId) => nameKey(projectId, foreignId));
    const [byId, byName] = await Promise.all([
      of.ids.length > 0 ? this.#documents.idsBy(users, 'id', of.ids) : undefined,
      names.length > 0 ? this.#documents.idsBy(users, 'foreignId', names) : undefined,
    ]);
    return {
      ids: of.ids.filter((id) => byId?.get(id)?.[0] === userKey(projectId, id)),
      foreignIds: of.foreignIds.flatMap((foreignId, at) => {
        const id = byName?.get(names[at] ?? '')?.[0];
        return id === undefined ? [] : [{ foreignId, id: lastIn(id) }];
      }),
    };
  }

  /**
   * Stores users, and writes their outcomes to `outcomes`. If another import stores a user with the same id at the same time,
   * the user may get no outcome yet.
   */
  async #addSome(
    projectId: string,
    some: readonly User[],
    outcomes: Map<User, ImportOutcome>,
  ): Promise<void> {
    const refused = await this.#refused(projectId, some);
    const fresh = new Map<string, User>();
    // Only the first of several users with the same id is stored in this round. The others wait for its outcome.
    for (const user of some) if (!refused.has(user) && !fresh.has(user.id)) fresh.set(user.id, user);
    const added = [...fresh.values()];
    const made = await this.#documents.change(
      added.map((user) => ({ in: users, target: userKey(projectId, user.id), set: storedOf(user) })),
    );
    for (const [at, user] of added.entries()) {
      const outcome = made[at];
      if (outcome === 'made') outcomes.set(user, 'stored');
      else if (typeof outcome === 'object') {
        outcomes.set(user, outcome.taken === 'id' ? 'id-taken' : takenBy(outcome));
      }
    }
    const others = some.filter(
      (user) => refused.has(user) || (fresh.get(user.id) === user && !outcomes.has(user)),
    );
    const there = await this.#findAll(projectId, others);
    for (const user of others) {
      const own = there.get(user.id);
      const refusal = refused.get(user);
      if (own) outcomes.set(user, { there: own });
      else if (refusal) outcomes.set(user, refusal);
      // If there is neither a stored user nor a refusal, the user who had the id was deleted meanwhile. The id may be free now,
      // so the next round tries again.
    }
    const stored = added.filter((user) => outcomes.get(user) === 'stored');
    // Since the check above, an account may have ended, or a user may have given up an address. If an imported user got the id
    // of this account, or this address, the imported user is removed again. On MongoDB, the row that reserves the address may
    // not be written yet, so `settle` first completes the changes of the users.
    if (stored.length > 0) await this.#documents.settle(users, within(projectId));
    for (const [user, refusal] of await this.#refused(projectId, stored)) {
      const id = userKey(projectId, user.id);
      const read = (await this.#documents.get(users, [id])).get(id);
      if (read?.doc.rev === user.rev && read.doc.seq === user.seq) await this.#documents.erase(users, read);
      outcomes.set(user, refusal);
    }
  }

  async #findAll(projectId: string, some: readonly User[]): Promise<Map<string, User>> {
    if (some.length === 0) return new Map();
    const found = await this.#documents.get(
      users,
      some.map(({ id }) => userKey(projectId, id)),
    );
    return new Map([...found.values()].map((one) => [lastIn(one.id), userOf(one)]));
  }

  /** The users who must not be stored even if no other user has their names, with the reasons. */
  async #refused(projectId: string, some: readonly User[]): Promise<Map<User, 'deleted' | 'email-taken'>> {
    const [ended, kept] = await Promise.all([this.#ended(projectId, some), this.#kept(projectId, some)]);
    return new Map([
      ...kept.map((user) => [user, 'email-taken'] as const),
      ...ended.map((user) => [user, 'deleted'] as const),
    ]);
  }

  /** The users with the id or the foreign id of an ended account. */
  async #ended(projectId: string, some: readonly User[]): Promise<User[]> {
    if (some.length === 0) return [];
    const any = await this.#documents.range(endedUsers, { ...within(projectId), limit: 1 });
    if (any.length === 0) return [];
    const idsOf = new Map(some.map((user) => [user, endedIds(user).map((id) => userKey(projectId, id))]));
    const found = await this.#documents.get(endedUsers, [...idsOf.values()].flat());
    return some.filter((user) => idsOf.get(user)?.some((id) => found.has(id)));
  }

  /** The users with an address that another user gave up and may still take back (spec#accounts-old-address). */
  async #kept(projectId: string, some: readonly User[]): Promise<User[]> {
    if (some.length === 0) return [];
    const any = await this.#documents.range(mailings, { ...within(projectId), limit: 1 }, 'kept');
    if (any.length === 0) return [];
    const keyOf = ({ email }: User) => (email === null ? null : nameKey(projectId, email));
    const keys = some.map(keyOf).filter((key) => key !== null);
    const found = await this.#documents.by(mailings, 'kept', keys);
    const now = Date.now();
    const keeps = (user: User, { id, doc }: Stored<StoredMailing>) =>
      doc.until > now && !id.startsWith(`${userKey(projectId, user.id)}|`);
    return some.filter((user) => found.get(keyOf(user) ?? '')?.some((one) => keeps(user, one)));
  }
}
