import type { Pair } from '../pair.ts';

/** The id of a pair. */
export function pairId({ projectId, lower, higher }: Pick<Pair, 'projectId' | 'lower' | 'higher'>): string {
  return `${projectId}|${lower}|${higher}`;
}

/** Of which two users a pair is. */
export function usersOf(id: string): Pick<Pair, 'projectId' | 'lower' | 'higher'> {
  const [projectId = '', lower = '', higher = ''] = id.split('|');
  return { projectId, lower, higher };
}

/** What the keys of everything of a user lie between. */
export function rangeOf(of: { projectId: string; userId: string }): { above: string; below: string } {
  const user = `${of.projectId}|${of.userId}`;
  // The character after the bar.
  return { above: `${user}|`, below: `${user}}` };
}

/** The id of a user's totals. */
export function totalsId(projectId: string, userId: string): string {
  return `${projectId}|${userId}|totals`;
}

/** The keys a pair's events lie between, and the key of the last of them. */
export function pairEvents(pair: Pair): { range: { from: string; to: string }; last: string } {
  const aggregate = `${pair.projectId}|connection|${pair.lower}:${pair.higher}`;
  // The character after the bar.
  return { range: { from: `${aggregate}|`, to: `${aggregate}}` }, last: `${aggregate}|${pair.seq}` };
}
