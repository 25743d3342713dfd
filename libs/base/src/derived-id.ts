import { hash } from 'node:crypto';

/**
 * Makes the id that follows from names: the same names always give the same id, others another. A UUID of version 8
 * (RFC 9562 section 5.8): the front of a SHA-256.
 * @param kind What the id is of, so that ids of different things with one name differ.
 */
export function derivedId(kind: string, ...names: readonly string[]): string {
  const bytes = hash('sha256', JSON.stringify([kind, ...names]), 'buffer');
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
