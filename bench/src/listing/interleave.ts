import type { SeedRow } from './layout.ts';

/** A stream of `size` rows. All streams create their rows during the same period. */
export interface Stream {
  size: number;
  rows: Iterator<SeedRow>;
}

/**
 * Yields the rows of several streams as if all streams had grown evenly at the same time. If a database keeps rows in the order of
 * their arrival, this order scatters the rows of one list, as in real use.
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
