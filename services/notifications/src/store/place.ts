import type { Owner } from '../feed.ts';

/** Most entries, and owners, that are looked at in one round of expiring. */
export const expiryBatch = 100;

const last = 999_999_999_999_999;

/** The key of a user's feed. */
export function feedKey({ projectId, userId }: Owner): string {
  return `${projectId}|${userId}`;
}

/** The key of an entry, which is its place in the feed, newest first (docs/adr/0006). Fixed width, so that text sorts it. */
export function placeOf(owner: Owner, seq: number): string {
  return `${feedKey(owner)}|${String(last - Math.min(seq, last)).padStart(15, '0')}`;
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
