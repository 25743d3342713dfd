import { nextTurnBefore } from '@kith/base';
import type { Documents, Search } from '@kith/store';
import { type ListPage, type ListRange, placeOf } from '../listing.ts';
import { users } from './collections/users.ts';
import { everything, nameKey, namesFrom, within } from './keys-of.ts';
import type { User } from './records.ts';
import { userOf } from './user-document.ts';

/** The maximum number of matching users that a search for suggestions reads at a time. */
const longestPage = 1_000;

/** How many users a search for suggestions looks through at once. */
const mostSearched = 4_000;

/**
 * Finds users by other values than their project and id. The returned `lastActive` may be earlier than the user's last sign-in.
 */
export class People {
  readonly #documents: Documents;
  readonly #searched: number;

  /** @param of.searched How many users a search for suggestions looks through at once. */
  constructor(documents: Documents, of: { searched?: number } = {}) {
    this.#documents = documents;
    this.#searched = of.searched ?? mostSearched;
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
   * Users whose username or name contains `search` (folded). Users whose username begins with `search` come first, then users
   * whose name begins with `search`, then all others.
   * @param of.hiddenAmong Returns which of the users with these ids are not shown.
   * @param of.deadline Unix ms. If it passes before enough users are found, throws `DeadlinePassed`.
   */
  async suggest(
    projectId: string,
    search: string,
    of: { limit: number; hiddenAmong: (ids: string[]) => Promise<Set<string>>; deadline: number },
  ): Promise<User[]> {
    const { limit, hiddenAmong, deadline } = of;
    const found: User[] = [];
    const judged = new Set<string>();
    // Reads several pages, because some users on a page may be hidden or already found.
    for await (const page of this.#matching(projectId, search, { first: 2 * limit, deadline })) {
      const others = page.filter(({ id }) => !judged.has(id));
      if (others.length === 0) continue;
      const ids = others.map(({ id }) => id);
      for (const id of ids) judged.add(id);
      const hidden = await hiddenAmong(ids);
      found.push(...others.filter(({ id }) => !hidden.has(id)));
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  /**
   * Pages of the users whose username or name contains `search`, in the order of `suggest`. A user may be on several pages. The
   * first page has at most `first` users, and after each full page, the next may be longer, up to `longestPage`. So a few
   * queries are enough to skip thousands of hidden users. Between two queries, other work of the process can run.
   */
  async *#matching(
    projectId: string,
    search: string,
    { first, deadline }: { first: number; deadline: number },
  ): AsyncGenerator<User[]> {
    let limit = first;
    const longer = () => Math.min(10 * limit, longestPage);
    for (const index of ['username', 'name']) {
      for (let skip = 0; ; ) {
        const range = { ...namesFrom(projectId, search), skip, limit };
        const page = await this.#documents.range(users, range, index);
        yield page.map(userOf);
        if (page.length < limit) break;
        await nextTurnBefore(deadline);
        skip += limit;
        limit = longer();
      }
    }
    // Searches in the order of the index `place`. Users that are next to each other in this index are usually also stored next
    // to each other, so reading them is fast.
    const all = within(projectId);
    const how: Search = {
      ...{ text: search, fields: ['username', 'name'], index: 'place' },
      ...{ uncounted: true, atOnce: this.#searched },
    };
    for (let after = all.above; ; ) {
      const { found, next } = await this.#documents.search(users, { ...all, limit }, { ...how, after });
      const page = found.map(userOf);
      yield page;
      const last = page.length === limit ? page.at(-1) : undefined;
      const end = last ? `${all.above}${placeOf(last)}` : next;
      if (end === undefined) break;
      after = end;
      await nextTurnBefore(deadline);
      if (last) limit = longer();
    }
  }

  async #findBy(index: string, key: string): Promise<User | null> {
    const [found] = (await this.#documents.by(users, index, [key])).get(key) ?? [];
    return found ? userOf(found) : null;
  }
}
