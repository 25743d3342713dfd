import { hash } from 'node:crypto';
import { timeKey } from '@kith/store';

/** The id of every document that exists once per user. Ids of documents in a user's lists begin with this id. */
export function userKey(projectId: string, userId: string): string {
  return `${projectId}|${userId}`;
}

/** The project at the beginning of an id. */
export function projectIn(id: string): string {
  return id.slice(0, id.indexOf('|'));
}

/** The last part of an id. */
export function lastIn(id: string): string {
  return id.slice(id.lastIndexOf('|') + 1);
}

/** The range of ids or keys that begin with these parts. */
export function within(...parts: readonly string[]): { above: string; below: string } {
  const list = parts.join('|');
  // `}` is the character after `|`. So `<list>}` sorts directly after all ids and keys that begin with `<list>|`, and the range
  // contains exactly these.
  return { above: `${list}|`, below: `${list}}` };
}

/** The range of all ids or keys. */
export const everything = { above: '', below: '~' } as const;

/**
 * A revoked session's place among all revoked sessions, earliest revocation first. Without `sid`, returns the place just before
 * all sessions that were revoked at this time.
 */
export function revokedPlace(at: Date, sid = ''): string {
  return `${String(at.getTime()).padStart(13, '0')}|${sid}`;
}

/**
 * A suspended user's place among all suspended users, earliest suspension first. `key` is the user's `userKey`. Without `key`,
 * returns the place just before all users who were suspended at this time.
 */
export function suspendedPlace(at: Date, key = ''): string {
  return `${timeKey(at.getTime())}|${key}`;
}

/** A session's place among the sessions of its user, in the order of their last uses. `id` is the session's `sessionKey`. */
export function usedPlace(id: string, usedAt: number): string {
  const [projectId = '', userId = ''] = id.split('|');
  return `${userKey(projectId, userId)}|${timeKey(usedAt)}|${lastIn(id)}`;
}

/**
 * How many characters of a name a key may contain. If a name is longer, a hash of the name replaces the rest, because databases
 * limit the size of keys.
 */
const longest = 200;

/**
 * Makes a key from a name in any script. The keys of all names with a certain beginning are in the range that `namesFrom`
 * returns.
 */
export function nameKey(projectId: string, name: string): string {
  const text = ascii(name);
  const whole = text.length > longest ? `${text.slice(0, longest)}~~${hash('sha256', text)}` : text;
  // Each key ends with a space, and a space sorts before every other character. So a name sorts before all longer names that
  // begin with it. A range does not include its lower limit `above`. Because of the space, the key of a name is greater than
  // this limit, so the range includes the name itself.
  return `${projectId}|${whole} `;
}

/** The range of keys of names that begin with `start`. If `start` has more than 200 characters, the range finds nothing. */
export function namesFrom(projectId: string, start: string): { above: string; below: string } {
  const beginning = `${projectId}|${ascii(start)}`;
  return { above: beginning, below: `${beginning}~~~` };
}

/**
 * Writes each byte outside printable ASCII as `~` and two hex digits. So a name that begins with another name still begins with
 * it after this change, and the order of the names stays the same.
 */
function ascii(text: string): string {
  return text.replaceAll(/[^\x20-\x7d]/gu, (one) =>
    Buffer.from(one).toString('hex').replaceAll(/../g, '~$&'),
  );
}
