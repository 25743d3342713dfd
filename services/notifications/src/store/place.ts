import type { Owner } from '../feed.ts';

const last = 999_999_999_999_999;

/** The key of a user's feed. */
export function feedKey({ projectId, userId }: Owner): string {
  return `${projectId}|${userId}`;
}

/** The key of an entry, which is its place in the feed, newest first (docs/adr/0006). Fixed width, so that text sorts it. */
export function placeOf(owner: Owner, seq: number): string {
  return `${feedKey(owner)}|${String(last - Math.min(seq, last)).padStart(15, '0')}`;
}

/** The key of the feed that an entry's place is in. */
export function ownerOf(place: string): string {
  return place.slice(0, place.lastIndexOf('|'));
}

/** Whose entry stands at a place, and its sequence. */
export function placed(place: string): Owner & { seq: number } {
  const [projectId = '', userId = '', at] = place.split('|');
  return { projectId, userId, seq: last - Number(at) };
}

/** Above the place of every entry of a feed. */
export function endOf(owner: Owner): string {
  // `}` follows `|`.
  return `${feedKey(owner)}}`;
}

/** What the keys of a feed's events lie between. */
export function eventsOf({ projectId, userId }: Owner): { from: string; to: string } {
  return { from: `${projectId}|feed|${userId}|`, to: `${projectId}|feed|${userId}}` };
}

/** Which events of a project's feeds tell of a user as an initiator. */
export function eventsTelling({ projectId, userId }: Owner): { from: string; to: string; telling: string } {
  return {
    from: `${projectId}|feed|`,
    to: `${projectId}|feed}`,
    telling: `"initiatorId":"${userId}"`,
  };
}
