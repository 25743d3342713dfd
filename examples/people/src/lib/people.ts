import type { PublicUser } from '@kith/client';

/** What is needed of a person to show them. */
export type Person = Pick<PublicUser, 'id' | 'name' | 'username' | 'avatar'>;

/** The name a person goes by. */
export function nameOf({ name, username }: Pick<Person, 'name' | 'username'>): string {
  return name ?? username ?? 'Someone';
}

/** The first letters of the first and the last word of a name. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._]+/u).filter(Boolean);
  const ends = words.length > 1 ? [words.at(0), words.at(-1)] : words;
  return ends.map((word) => [...(word ?? '')][0]?.toUpperCase() ?? '').join('');
}

/** A hue that stays the same for a person: degrees. */
export function hueOf(id: string): number {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) % 360;
  return sum;
}
