import type { Documents } from '@kith/store';
import { type ListPage, type ListRange, placeOf } from '../listing.ts';
import { users } from './collections.ts';
import { everything, nameKey, namesFrom, within } from './keys-of.ts';
import type { User } from './records.ts';
import { userOf } from './user-document.ts';

/** Finds users in other ways than by project and id. `lastActive` may be earlier than the last sign-in of the user. */
export class People {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** @param username In upper or lower case. */
  findByUsername(projectId: string, username: string): Promise<User | null> {
    return this.#findBy('username', nameKey(projectId, username.toLowerCase()));
  }

  findByForeignId(projectId: string, foreignId: string): Promise<User | null> {
    return this.#findBy('foreignId', nameKey(projectId, foreignId));
  }

  /** Users of all projects, sorted by project and id; `after` is `<project>|<user>`. */
  async page(after: string, limit: number): Promise<User[]> {
    return (await this.#documents.range(users, { ...everything, above: after, limit })).map(userOf);
  }

  /** Some users of a project, in no particular order. */
  async some(projectId: string, limit: number): Promise<User[]> {
    return (await this.#documents.range(users, { ...within(projectId), limit })).map(userOf);
  }

  /** The project of a user, by the user's id alone. */
  async projectOf(userId: string): Promise<string | null> {
    return (await this.#findBy('id', userId))?.projectId ?? null;
  }

  /**
   * A project's users, newest first. If `search` (folded) is not empty, returns only users whose username, name or e-mail
   * address contains this text.
   */
  async list(projectId: string, search: string, { from, limit }: ListRange): Promise<ListPage<User>> {
    const all = within(projectId);
    const skip = 'skip' in from ? from.skip : 0;
    const after = 'after' in from ? `${all.above}${from.after}` : all.above;
    if (search !== '') {
      const how = { text: search, fields: ['username', 'name', 'email'], index: 'place', after };
      const { found, total } = await this.#documents.search(users, { ...all, skip, limit }, how);
      return { rows: found.map(userOf), total };
    }
    const [total, rows] = await Promise.all([
      this.#documents.count(users, all, 'place'),
      this.#documents.range(users, { ...all, above: after, skip, limit }, 'place'),
    ]);
    return { rows: rows.map(userOf), total };
  }

  /**
   * Users whose username or name contains `search` (folded). Users whose username begins with it come first, then users whose
   * name begins with it, then all others.
   * @param of.except Users who are not shown.
   */
  async suggest(
    projectId: string,
    search: string,
    { limit, except }: { limit: number; except: readonly string[] },
  ): Promise<User[]> {
    const hidden = new Set(except);
    const found = new Map<string, User>();
    const add = (some: readonly User[]) => {
      for (const user of some) if (found.size < limit && !hidden.has(user.id)) found.set(user.id, user);
    };
    // Some users on a page may be hidden or already found. So one page is not always enough.
    const page = 2 * limit;
    for (const index of ['username', 'name']) {
      for (let skip = 0; found.size < limit; skip += page) {
        const beginning = { ...namesFrom(projectId, search), skip, limit: page };
        const some = (await this.#documents.range(users, beginning, index)).map(userOf);
        add(some);
        if (some.length < page) break;
      }
    }
    // Reads the users in the order in which they are listed, because their documents are stored side by side in this order.
    const range = { ...within(projectId), limit: page };
    const how = { text: search, fields: ['username', 'name'], index: 'place', uncounted: true } as const;
    for (let after = range.above; found.size < limit; ) {
      const some = (await this.#documents.search(users, range, { ...how, after })).found.map(userOf);
      add(some);
      const last = some.at(-1);
      if (!last || some.length < page) break;
      after = `${range.above}${placeOf(last)}`;
    }
    return [...found.values()];
  }

  async #findBy(index: string, key: string): Promise<User | null> {
    const [found] = (await this.#documents.by(users, index, [key])).get(key) ?? [];
    return found ? userOf(found) : null;
  }
}
