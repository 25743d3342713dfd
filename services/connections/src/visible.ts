import type { PublicUser } from '@kith/contracts';
import { type Entry, entriesOf, entryKey, type ListName } from './listing.ts';
import type { ConnectionStore, ListPage, ListRange } from './store/index.ts';

/**
 * How many extra rows are read beyond a page. If at most this many hidden rows lie in the page or before it, no second read is
 * needed.
 */
const spare = 20;

/** A page of rows. `users` holds the profiles of the users in these rows, and maybe more profiles. */
export interface VisiblePage extends ListPage {
  users?: Map<string, PublicUser>;
}

/** What a list shows to a caller who must not see the list's owner. */
export const nothing: VisiblePage = { entries: [], total: 0 };

/**
 * Reads a list and its total without the people who are hidden from the caller. The read takes two round trips. The first trip
 * reads the rows, the total and the hidden people. The second trip reads the profiles. The second trip also reads the owner's
 * pairs with the hidden people; there are only a few such pairs. If more than `spare` hidden rows lie before the page's end,
 * the rows are read again, without the hidden people. The total is off by one if a connection with a hidden person changes
 * between the two trips (spec#lists-meanwhile).
 */
export async function listVisible(
  store: Pick<ConnectionStore, 'list' | 'pairsWith'>,
  range: ListRange,
  by: {
    hidden: Promise<ReadonlySet<string>>;
    usersOf(entries: readonly Entry[]): Promise<Map<string, PublicUser>>;
  },
): Promise<VisiblePage> {
  const wide = { ...range, limit: range.limit + spare };
  const [read, hidden] = await Promise.all([store.list(wide), by.hidden]);
  if (hidden.has(range.ownerId)) return nothing;
  if (hidden.size === 0) return { entries: read.entries.slice(0, range.limit), total: read.total };
  const isVisible = ({ userId }: Entry) => !hidden.has(userId);
  const visible = read.entries.filter(isVisible);
  const [keys, users] = await Promise.all([hiddenKeys(store, range, hidden), by.usersOf(visible)]);
  const page = pageOf(read.entries, { range: wide, visible, keys, limit: range.limit });
  if (page) return { entries: page, total: Math.max(read.total - keys.length, 0), users };
  const { entries, total } = await store.list({ ...range, without: keys });
  // The rows are filtered by user once more, because a hidden user may have been added to the list meanwhile.
  return { entries: entries.filter(isVisible), total };
}

/**
 * The keys of those rows of a list that belong to hidden people. With `settled`, later reads of the list's total count these
 * rows.
 */
export async function hiddenKeys(
  store: Pick<ConnectionStore, 'pairsWith'>,
  of: { projectId: string; ownerId: string; list: ListName },
  hidden: ReadonlySet<string>,
  how: { settled?: boolean } = {},
): Promise<string[]> {
  if (hidden.size === 0) return [];
  const pairs = await store.pairsWith(of.projectId, of.ownerId, [...hidden], how);
  return pairs
    .flatMap(entriesOf)
    .filter(({ ownerId, list }) => ownerId === of.ownerId && list === of.list)
    .map(entryKey);
}

/**
 * Finds the visible rows of the page. `rows` holds what was read: visible rows and hidden rows. Returns `null` if the page goes
 * on beyond these rows.
 */
function pageOf(
  rows: readonly Entry[],
  of: { range: ListRange; visible: Entry[]; keys: readonly string[]; limit: number },
): Entry[] | null {
  const { range, visible, keys, limit } = of;
  const [first] = rows;
  if (!first) return [];
  // `skip` has also skipped some hidden rows, and `early` is the number of these rows. Each skipped hidden row took the place
  // of a visible row. So the first `early` visible rows belong to an earlier page.
  const start = entryKey(first);
  const early = 'skip' in range.from ? keys.filter((key) => key < start).length : 0;
  const page = visible.slice(early, early + limit);
  const isWhole = page.length === limit || rows.length < range.limit;
  return isWhole ? page : null;
}
