import type { PublicUser } from '@kith/contracts';
import { type Entry, entriesOf, entryKey, type ListName } from './listing.ts';
import type { ConnectionStore, ListPage, ListRange } from './store/index.ts';

/** Extra rows read beyond a page. With up to this many hidden rows in or before the page, no second read is needed. */
const spare = 20;

/** A page of rows; `users` holds their profiles, and maybe more. */
export interface VisiblePage extends ListPage {
  users?: Map<string, PublicUser>;
}

/** What a list shows to a caller from whom its owner is hidden. */
export const nothing: VisiblePage = { entries: [], total: 0 };

/**
 * Reads a list and its total without the people who are hidden from the caller, in two round trips: first the rows, the total
 * and the hidden people; then the profiles, and the owner's pairs with the hidden people, who are few. Only if more than
 * `spare` hidden rows lie before the page's end are the rows read again, without them.
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
  // Filtered by user once more, because a hidden user may have got into the list meanwhile.
  return { entries: entries.filter(isVisible), total };
}

/** The keys of the rows in a list that belong to hidden people. */
export async function hiddenKeys(
  store: Pick<ConnectionStore, 'pairsWith'>,
  of: { projectId: string; ownerId: string; list: ListName },
  hidden: ReadonlySet<string>,
): Promise<string[]> {
  if (hidden.size === 0) return [];
  const pairs = await store.pairsWith(of.projectId, of.ownerId, [...hidden]);
  return pairs
    .flatMap(entriesOf)
    .filter(({ ownerId, list }) => ownerId === of.ownerId && list === of.list)
    .map(entryKey);
}

/** Finds the page among rows that were read as if nobody was hidden; `null` if the page goes on beyond these rows. */
function pageOf(
  rows: readonly Entry[],
  of: { range: ListRange; visible: Entry[]; keys: readonly string[]; limit: number },
): Entry[] | null {
  const { range, visible, keys, limit } = of;
  const [first] = rows;
  if (!first) return [];
  // Each hidden row that was skipped took the place of a visible one, so the first `early` visible rows belong to an
  // earlier page.
  const start = entryKey(first);
  const early = 'skip' in range.from ? keys.filter((key) => key < start).length : 0;
  const page = visible.slice(early, early + limit);
  const isWhole = page.length === limit || rows.length < range.limit;
  return isWhole ? page : null;
}
