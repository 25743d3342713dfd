import type { SeedRow } from './layout.ts';

/** Rows that come into being over the same time as others', so many of them. */
export interface Stream {
  size: number;
  rows: Iterator<SeedRow>;
}

/**
 * Gives the rows of several streams as if all had grown evenly at once: what belongs to one list then lies scattered where a
 * database keeps rows in the order of their arrival, as it does in life.
 */
export function* interleave(streams: readonly Stream[]): Generator<SeedRow> {
  const open = streams.map((stream) => ({ ...stream, given: 0 }));
  while (open.length > 0) {
    let next = open[0]!;
    for (const one of open) if (one.given / one.size < next.given / next.size) next = one;
    const { value, done } = next.rows.next();
    next.given++;
    if (done) open.splice(open.indexOf(next), 1);
    else yield value;
  }
}
