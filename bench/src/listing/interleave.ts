import type { SeedRow } from './layout.ts';

/** Rows, `size` in number, that are created over the same time as the rows of the other streams. */
export interface Stream {
  size: number;
  rows: Iterator<SeedRow>;
}

/**
 * Gives the rows of several streams as if all had grown evenly at the same time. In a database that keeps rows in the order of
 * their arrival, the rows of one list are then scattered, as in real use.
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
