import type { Owner } from '../feed.ts';

const last = 999_999_999_999_999;

/** The key of a user's feed. */
export function feedKey({ projectId, userId }: Owner): string {
  return `${projectId}|${userId}`;
}

/**
 * The key of an entry: its place in the feed, newest first (docs/adr/0006). The number in the key falls as the sequence grows,
 * and always has the same count of digits. So if keys are sorted as text, the newest entry comes first.
 */
export function placeOf(owner: Owner, seq: number): string {
  return `${feedKey(owner)}|${String(last - Math.min(seq, last)).padStart(15, '0')}`;
}

/** The key of the feed that contains the entry at a place. */
export function ownerOf(place: string): string {
  return place.slice(0, place.lastIndexOf('|'));
}

/** The owner and the sequence of the entry at a place. */
export function placed(place: string): Owner & { seq: number } {
  const [projectId = '', userId = '', at] = place.split('|');
  return { projectId, userId, seq: last - Number(at) };
}

/** A key that comes after the keys of all entries of a feed. */
export function endOf(owner: Owner): string {
  // The keys of a feed's entries begin with `<feed key>|`. `}` is the character after `|`. So `<feed key>}` sorts directly
  // after all of these keys.
  return `${feedKey(owner)}}`;
}

/** The range of the keys of a feed's events. */
export function eventsOf({ projectId, userId }: Owner): { from: string; to: string } {
  return { from: `${projectId}|feed|${userId}|`, to: `${projectId}|feed|${userId}}` };
}

/**
 * The range of a project's feed events that contain a user's id as `initiatorId`. The search may also find events of an
 * application's notifications whose `metadata` contains such a field.
 */
export function eventsTelling({ projectId, userId }: Owner): { from: string; to: string; telling: string } {
  return {
    from: `${projectId}|feed|`,
    to: `${projectId}|feed}`,
    telling: `"initiatorId":"${userId}"`,
  };
}
