import { fold } from '@kith/base';
import { type Entry, placeOf } from './listing.ts';
import type { ConnectionStore, ListPage, ListRange } from './store/index.ts';
import type { SearchKey } from './store/profiles.ts';
import { walk } from './walk.ts';

/** A search for people. `query` is a folded text (see `fold`) and not empty. */
export interface PeopleSearch {
  query: string;
  fields: readonly SearchKey[];
}

/** Reads the search from the query of a list request. Returns null if the folded query is empty. */
export function searchOf(given: {
  query?: string | undefined;
  searchFields?: 'username' | 'name' | undefined;
}): PeopleSearch | null {
  const query = fold(given.query ?? '');
  if (!query) return null;
  return { query, fields: given.searchFields ? [given.searchFields] : ['username', 'name'] };
}

/**
 * Reads those rows of a list whose people match a search. Leaves out `hidden` people. `total` counts all matches. The function
 * reads the whole list and the search keys of its people, 1,000 at a time. It does so for two reasons. No index of names has
 * the order of the list, and the total is known only after all rows are read. `ConnectionStore.list` reads lists without a
 * search.
 * @param by.bring Adds missing users to the copy. For example, imported users are missing because no event announces them
 * (docs/adr/0018).
 * @param by.deadline Unix ms. If it passes before the whole list is read, throws `DeadlinePassed`.
 */
export async function searchList(
  store: Pick<ConnectionStore, 'list' | 'profiles'>,
  range: ListRange,
  by: {
    search: PeopleSearch;
    hidden: ReadonlySet<string>;
    bring(userIds: readonly string[]): Promise<unknown>;
    deadline: number;
  },
): Promise<ListPage> {
  const { from, limit, ...list } = range;
  const { search, hidden, bring, deadline } = by;
  const keysOf = (userIds: readonly string[]) =>
    store.profiles.searchKeys(range.projectId, userIds, search.fields);
  const page: Entry[] = [];
  let total = 0;
  for await (const entries of walk(store, { ...list, deadline })) {
    const userIds = entries.map(({ userId }) => userId);
    const keys = await keysOf(userIds);
    const missing = userIds.filter((userId) => !keys.has(userId) && !hidden.has(userId));
    if (missing.length > 0) {
      await bring(missing);
      for (const [userId, key] of await keysOf(missing)) keys.set(userId, key);
    }
    for (const entry of entries) {
      const key = keys.get(entry.userId);
      if (!key || hidden.has(entry.userId)) continue;
      if (!search.fields.some((field) => key[field].includes(search.query))) continue;
      const isDue = 'skip' in from ? total >= from.skip : placeOf(entry) > from.after;
      if (isDue && page.length < limit) page.push(entry);
      total++;
    }
  }
  return { entries: page, total };
}
