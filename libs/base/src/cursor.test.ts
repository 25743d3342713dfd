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
  const position = fc.record({
    after: fc.string({ unit: 'grapheme' }),
    page: fc.integer({ min: 1 }),
    before: fc.option(fc.nat(), { nil: undefined }),
  });
  fc.assert(
    fc.property(position, fc.array(fc.string()), (one, binding) => {
      const cursor = encodeCursor(one, binding);
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(read(cursor, binding)).toEqual(one);
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
  ['fewer than no rows before the page', Buffer.from('{"k":"x","n":1,"b":"","r":-1}').toString('base64url')],
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
