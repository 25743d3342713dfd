import { expect, test } from 'vitest';
import { Checksum, canonical, isFirm } from './checksum.ts';

const sumOf = (...documents: object[]) => {
  const sum = new Checksum();
  for (const document of documents) sum.add(document);
  return `${sum.count} ${sum.sum}`;
};

test('the checksum does not depend on the order of the documents, or on the order of their fields', () => {
  const at = new Date(1_700_000_000_000);
  const one = { _id: 'a', at, list: [1, { b: null, a: 'x' }] };
  const same = { list: [1, { a: 'x', b: null }], at: new Date(at), _id: 'a' };
  expect(sumOf(one, { _id: 'b' })).toBe(sumOf({ _id: 'b' }, same));
});

test.each([
  [
    { _id: 'a', n: 1 },
    { _id: 'a', n: '1' },
  ],
  [
    { _id: 'a', at: new Date(5) },
    { _id: 'a', at: 5 },
  ],
  [{ _id: 'a', b: null }, { _id: 'a' }],
  [
    { _id: 'a', list: [1, 2] },
    { _id: 'a', list: [2, 1] },
  ],
])('%j and %j have different checksums', (one, other) => {
  expect(canonical(one)).not.toBe(canonical(other));
  expect(sumOf(one)).not.toBe(sumOf(other));
});

test('isFirm accepts a document that expires, until it expires', () => {
  const now = 1_700_000_000_000;
  expect(isFirm({ _id: 'a' }, now)).toBe(true);
  for (const field of ['expireAt', 'expiresAt']) {
    expect(isFirm({ [field]: new Date(now + 1) }, now)).toBe(true);
    expect(isFirm({ [field]: new Date(now) }, now)).toBe(false);
  }
});
