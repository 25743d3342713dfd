import { exportPageBytes } from '@kith/contracts';

/**
 * Makes a page of an export, and the position of the next page. The page has as many rows as are allowed and fit, but at least
 * one row. `found` may have one row more than `limit`. This additional row is not on the page; it only shows that another page
 * follows.
 */
export function exportPage<Row, Item>(
  found: readonly Row[],
  of: { limit: number; show: (row: Row) => Item; position: (row: Row) => string },
): { items: Item[]; next: string | null } {
  const items: Item[] = [];
  let bytes = 0;
  for (const row of found.slice(0, of.limit)) {
    const item = of.show(row);
    bytes += Buffer.byteLength(JSON.stringify(item));
    if (items.length > 0 && bytes > exportPageBytes) break;
    items.push(item);
  }
  const last = items.length < found.length ? found[items.length - 1] : undefined;
  return { items, next: last === undefined ? null : of.position(last) };
}
