/** A time (Unix ms) or a count as text of fixed width, so that texts sort in the order of the numbers. */
export function timeKey(at: number): string {
  return String(Math.max(at, 0)).padStart(15, '0');
}
