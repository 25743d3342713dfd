import type { PublicUser } from '@kith/client';

/** The fields that are needed to show a person. */
export type Person = Pick<PublicUser, 'id' | 'name' | 'username' | 'avatar'>;

/** The name to show for a person. */
export function nameOf({ name, username }: Pick<Person, 'name' | 'username'>): string {
  return name ?? username ?? 'Someone';
}

/** The first letters of the first and the last word of a name. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._]+/u).filter(Boolean);
  const ends = words.length > 1 ? [words.at(0), words.at(-1)] : words;
  return ends.map((word) => [...(word ?? '')][0]?.toUpperCase() ?? '').join('');
}

/** A hue for a person, in degrees. A person always has the same hue. */
export function hueOf(id: string): number {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) % 360;
  return sum;
}
