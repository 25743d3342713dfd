/**
 * How many bytes the values of a page may have: half of the maximum size of a message (`maxPayload`). If profiles or settings
 * have the longest texts, only a few fit in a page.
 */
const pageBytes = 2 * 1024 * 1024;

/** How many of the values fit into a page: at least one, if there is any. */
export function fitting(values: readonly unknown[]): number {
  let bytes = 0;
  for (const [index, value] of values.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(value));
    if (bytes > pageBytes) return Math.max(index, 1);
  }
  return values.length;
}
