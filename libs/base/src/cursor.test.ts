import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { ApiError } from './errors.ts';

const refused = new ApiError('collection/invalid-query', {
  message: 'cursor does not belong to this list. Start the list again without a cursor.',
  field: 'cursor',
});
const read = (cursor: string, binding: readonly string[] = ['list', 'me']) =>
  decodeCursor(cursor, binding, 'collection/invalid-query');

test('a cursor decodes to its position, and needs no escaping in a query', () => {
  const after = fc.string({ unit: 'grapheme' });
  fc.assert(
    fc.property(after, fc.integer({ min: 1 }), fc.array(fc.string()), (key, page, binding) => {
      const cursor = encodeCursor({ after: key, page }, binding);
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(read(cursor, binding)).toEqual({ after: key, page });
    }),
  );
});

test('a cursor is refused with any other binding', () => {
  const cursor = encodeCursor({ after: 'x', page: 2 }, ['list', 'me']);
  for (const other of [['list', 'you'], ['list'], ['list', 'me', ''], ['listme'], ['list,me']]) {
    expect(() => read(cursor, other)).toThrow(refused);
  }
});

test.each([
  ['nothing', ''],
  ['no cursor', 'not a cursor'],
  ['JSON of another shape', Buffer.from('{"k":1}').toString('base64url')],
  ['JSON that is no object', Buffer.from('null').toString('base64url')],
  ['page zero', Buffer.from('{"k":"x","n":0,"b":""}').toString('base64url')],
  ['a page that is not whole', Buffer.from('{"k":"x","n":1.5,"b":""}').toString('base64url')],
  ['a cursor cut short', encodeCursor({ after: 'x', page: 2 }, ['list', 'me']).slice(0, -4)],
])('%s is refused', (_, cursor) => {
  expect(() => read(cursor)).toThrow(refused);
  try {
    read(cursor);
  } catch (error) {
    expect(error).toMatchObject({ code: 'collection/invalid-query', field: 'cursor' });
  }
});
