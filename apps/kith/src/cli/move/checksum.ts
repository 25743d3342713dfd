import { createHash } from 'node:crypto';
import type { Document } from 'mongodb';

/** Counts documents, and combines their hashes by XOR. So the same documents give the same sum in any order. */
export class Checksum {
  count = 0;
  readonly #sum = Buffer.alloc(32);

  add(document: Document): void {
    const hash = createHash('sha256').update(canonical(document)).digest();
    for (const [at, byte] of hash.entries()) this.#sum[at] = (this.#sum[at] ?? 0) ^ byte;
    this.count++;
  }

  get sum(): string {
    return this.#sum.toString('hex');
  }
}

/** A document as a text that does not depend on the order of its fields. */
export function canonical(value: unknown): string {
  if (value instanceof Date) return `@${value.getTime()}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

/**
 * Whether a document has not yet expired at the time `at`. A document that has expired by then is not compared, because it may
 * already be gone in one of the two places.
 */
export function isFirm({ expireAt, expiresAt }: Document, at: number): boolean {
  const end: unknown = expireAt ?? expiresAt;
  return !(end instanceof Date) || end.getTime() > at;
}
