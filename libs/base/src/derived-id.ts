import { hash } from 'node:crypto';

/**
 * Makes an id from names. The same names always give the same id. Different names give different ids. The id is a UUID of
 * version 8 (RFC 9562 section 5.8), made from the first bytes of a SHA-256 hash of the kind and the names.
 * @param kind The kind of thing that gets the id. Things of different kinds with the same name get different ids.
 */
export function derivedId(kind: string, ...names: readonly string[]): string {
  const bytes = hash('sha256', JSON.stringify([kind, ...names]), 'buffer');
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
