import { createHmac, randomBytes } from 'node:crypto';
import type { PublicUser } from '@kith/contracts';
import type { AnyStored } from './any-stored.ts';

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** The nil UUID, which means nobody (RFC 9562 section 5.9). An anonymised backup does not replace this value. */
const nil = '00000000-0000-0000-0000-000000000000';

const firstNames =
  'Ada Alan Amina Anna Ben Bo Carla Chen Dana Daria Diego Ebba Elif Emil Eva Farah Felix Gita Hana Hugo Ines Ivan Jana Jin Jonas Kaya Kofi Lea Leo Lin Luca Maja Malik Mara Mei Milo Nadia Nia Noah Nora Olga Omar Oscar Paula Priya Rana Ravi Rosa Sami Sara Sven Tara Theo Uma Vera Vito Wanda Yara Yusuf Zoe';
const lastNames =
  'Adeyemi Alvarez Arslan Bauer Becker Berg Bianchi Castro Chen Costa Dahl Diaz Dubois Egger Evans Ferrari Fischer Fuchs Garcia Gruber Haas Haddad Hansen Ito Ivanova Jansen Kaya Keller Khan Kim Kovac Kruger Lang Larsen Li Lopez Meyer Moreau Mori Nagy Ndiaye Novak Okafor Olsen Park Patel Petrov Popescu Ricci Rossi Sato Schmid Silva Singh Sousa Takeda Tran Vogel Weber Wolf';
const [first, last] = [firstNames.split(' '), lastNames.split(' ')];
const titles =
  'Books,Recipes,Places to see,Films,Plants,Gifts,Music,Ideas,Walks,Tools,Letters,Photographs,Games,Articles,Sketches,Routes'.split(
    ',',
  );

/**
 * Makes the replacements for people and their texts in an anonymous copy. The same input always gets the same replacement, so
 * references stay consistent. Replacements depend on a random key that exists only in this object.
 */
export class MadeUp {
  readonly #key = randomBytes(32);
  /** The hash of one password. In the copy, everybody who has a password has this password. */
  readonly passwordHash: string;

  constructor(passwordHash: string) {
    this.passwordHash = passwordHash;
  }

  /** A text with its ids replaced. */
  ids(text: string): string {
    return text.replaceAll(uuids, (id) => (id === nil ? id : this.#id(id)));
  }

  /** A document with its ids replaced, and otherwise unchanged. */
  mapped(stored: AnyStored): AnyStored {
    return { ...stored, id: this.ids(stored.id), doc: JSON.parse(this.ids(JSON.stringify(stored.doc))) };
  }

  /** The name and user name of the person with this id in the copy. */
  person(id: string): { name: string; username: string } {
    const hash = this.#hash(`person ${id}`);
    const [given, family] = [pick(first, hash, 0), pick(last, hash, 2)];
    return {
      name: `${given} ${family}`,
      username: `${given}.${family}.${hash.toString('hex', 4, 8)}`.toLowerCase(),
    };
  }

  /** A public user for the anonymous copy. The `id` must already have been replaced. */
  user<U extends Omit<PublicUser, 'createdAt' | 'projectId'>>(user: U): U {
    const { name, username } = this.person(user.id);
    return {
      ...user,
      ...{ name: user.name && name, username: user.username && username },
      foreignId: user.foreignId && this.text(user.foreignId),
      ...{ avatar: null, bannerFileId: null, avatarFileId: null, bio: null, birthdate: null, location: null },
      metadata: {},
    };
  }

  /** Replaces a title. */
  title(text: string): string {
    return pick(titles, this.#hash(`title ${text}`), 0);
  }

  /** Replaces a text; different texts get different replacements. */
  text(text: string): string {
    return `made-up-${this.#hash(`text ${text}`).toString('hex', 0, 10)}`;
  }

  #id(id: string): string {
    const hash = this.#hash(`id ${id}`);
    // Marks the bytes as a UUID of version 4, RFC 9562 section 5.4.
    hash[6] = ((hash[6] as number) & 0x0f) | 0x40;
    hash[8] = ((hash[8] as number) & 0x3f) | 0x80;
    const hex = hash.toString('hex', 0, 16);
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  }

  #hash(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}

function pick(from: readonly string[], hash: Buffer, at: number): string {
  return from[hash.readUInt16BE(at) % from.length] as string;
}
