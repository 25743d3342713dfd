import type { Collection, Db, Filter } from 'mongodb';
import type { ListPage, ListRange } from '../listing.ts';
import type { PeopleStore, User } from './index.ts';
import { type UserDocument, userOf } from './mongo-user-document.ts';

/** Looks people up on MongoDB. What a deleted user leaves has none of the fields that are looked for. */
export class MongoPeople implements PeopleStore {
  readonly #users: Collection<UserDocument>;

  constructor(db: Db) {
    this.#users = db.collection('users');
  }

  async findByUsername(projectId: string, username: string): Promise<User | null> {
    const found = await this.#users.findOne({ projectId, usernameKey: username.toLowerCase() });
    return found && userOf(found);
  }

  async findByForeignId(projectId: string, foreignId: string): Promise<User | null> {
    const found = await this.#users.findOne({ projectId, foreignId });
    return found && userOf(found);
  }

  async page(after: string, limit: number): Promise<User[]> {
    const found = await this.#users
      .find({ _id: { $gt: after }, place: { $exists: true } }, { sort: { _id: 1 }, limit })
      .toArray();
    return found.map(userOf);
  }

  async projectOf(userId: string): Promise<string | null> {
    // What a deleted user leaves has no place.
    const found = await this.#users.findOne({ userId, place: { $exists: true } });
    return found?.projectId ?? null;
  }

  async list(projectId: string, search: string, { from, limit }: ListRange): Promise<ListPage<User>> {
    const part = pattern(search);
    const searched = search
      ? { $or: [{ usernameKey: part }, { nameKey: part }, { email: part }] }
      : ({} as Filter<UserDocument>);
    // The character after the bar.
    const places = (after: string) => ({ place: { $gt: `${projectId}|${after}`, $lt: `${projectId}}` } });
    const total = await this.#users.countDocuments({ ...places(''), ...searched });
    const skip = 'skip' in from ? from.skip : 0;
    if (skip >= total) return { rows: [], total };
    const filter = { ...places('after' in from ? from.after : ''), ...searched };
    const found = await this.#users.find(filter, { sort: { place: 1 }, skip, limit }).toArray();
    return { rows: found.map(userOf), total };
  }

  async suggest(
    projectId: string,
    search: string,
    { limit, except }: { limit: number; except: readonly string[] },
  ): Promise<User[]> {
    const [start, part] = [pattern(search, '^'), pattern(search)];
    const steps: { filter: Filter<UserDocument>; sort?: Record<string, 1> }[] = [
      { filter: { usernameKey: start }, sort: { usernameKey: 1 } },
      { filter: { nameKey: start }, sort: { nameKey: 1 } },
      { filter: { $or: [{ usernameKey: part }, { nameKey: part }] } },
    ];
    const users: User[] = [];
    for (const { filter, sort } of steps) {
      if (users.length >= limit) break;
      const others = { projectId, userId: { $nin: [...except, ...users.map(({ id }) => id)] } };
      const options = { limit: limit - users.length, ...(sort ? { sort } : {}) };
      const found = await this.#users.find({ ...others, ...filter }, options).toArray();
      users.push(...found.map(userOf));
    }
    return users;
  }
}

/** Matches a text as it is. A pattern can not hold the character NUL itself. */
function pattern(text: string, start = ''): RegExp {
  return new RegExp(start + text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00'));
}
