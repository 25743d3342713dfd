import { inOrder, type Pair } from '../pair.ts';

/** The key of a pair on MongoDB. */
export function pairId(pair: Pick<Pair, 'projectId' | 'lower' | 'higher'>): string {
  const { lower, higher } = inOrder(pair.lower, pair.higher);
  return `${pair.projectId}|${lower}|${higher}`;
}

/** The keys a pair's events lie between, and the key of the last of them. */
export function pairEvents(pair: Pair): { range: { from: string; to: string }; last: string } {
  const aggregate = `${pair.projectId}|connection|${pair.lower}:${pair.higher}`;
  // The character after the bar.
  return { range: { from: `${aggregate}|`, to: `${aggregate}}` }, last: `${aggregate}|${pair.seq}` };
}
