/** A time (Unix ms) or a count as text of fixed width, so that the order of texts is its order. */
export function timeKey(at: number): string {
  return String(Math.max(at, 0)).padStart(15, '0');
}
