import type { Pair } from '../pair.ts';

/** The id of a pair. */
export function pairId({ projectId, lower, higher }: Pick<Pair, 'projectId' | 'lower' | 'higher'>): string {
  return `${projectId}|${lower}|${higher}`;
}

/** The project and the two users that a pair's id contains. */
export function usersOf(id: string): Pick<Pair, 'projectId' | 'lower' | 'higher'> {
  const [projectId = '', lower = '', higher = ''] = id.split('|');
  return { projectId, lower, higher };
}

/** The range of all keys that begin with a project and a user. */
export function rangeOf(of: { projectId: string; userId: string }): { above: string; below: string } {
  const user = `${of.projectId}|${of.userId}`;
  // `}` is the character that follows `|` in ASCII. So the end of the range comes directly after all keys that begin with its
  // start.
  return { above: `${user}|`, below: `${user}}` };
}

/** The id of a user's totals. */
export function totalsId(projectId: string, userId: string): string {
  return `${projectId}|${userId}|totals`;
}

/** The range of the keys of a pair's events, and the key of the last event. */
export function pairEvents(pair: Pair): { range: { from: string; to: string }; last: string } {
  const aggregate = `${pair.projectId}|connection|${pair.lower}:${pair.higher}`;
  // `}` is the character that follows `|` in ASCII. So the end of the range comes directly after all keys that begin with its
  // start.
  return { range: { from: `${aggregate}|`, to: `${aggregate}}` }, last: `${aggregate}|${pair.seq}` };
}
