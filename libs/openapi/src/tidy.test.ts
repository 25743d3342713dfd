import { expect, test } from 'vitest';
import { tidy } from './tidy.ts';

test('a string with a format gets a maximum length and loses its pattern', () => {
  expect(tidy({ type: 'string', format: 'uuid', pattern: '^x$' })).toEqual({
    type: 'string',
    format: 'uuid',
    maxLength: 36,
  });
  expect(tidy({ type: 'string', format: 'email', pattern: '^x$', maxLength: 9 })).toHaveProperty('pattern');
});

test('an integer gets its format and loses its pattern', () => {
  expect(tidy({ type: 'integer', pattern: '^\\d+$', maximum: 5 })).toEqual({
    type: 'integer',
    maximum: 5,
    format: 'int32',
  });
  expect(tidy({ type: 'integer', maximum: 2 ** 40 })).toHaveProperty('format', 'int64');
  expect(tidy({ type: 'integer' })).toHaveProperty('format', 'int64');
});

test('`anyOf` of a plain type and null becomes one `type` that lists both; any other `anyOf` stays as it is', () => {
  const anyOf = [{ type: 'string', format: 'date' }, { type: 'null' }];
  const date = { type: ['string', 'null'], format: 'date', maxLength: 10 };
  expect(tidy({ anyOf, description: 'A day.' })).toEqual({ ...date, description: 'A day.' });
  for (const first of [{ $ref: '#/x' }, { type: 'string', enum: ['a'] }, { type: 'string', const: 'a' }]) {
    const choice = { anyOf: [first, { type: 'null' }] };
    expect(tidy(choice)).toEqual(choice);
  }
});

test('if the values of a map may be any JSON, their schema becomes `true`; any other map keeps the schema of its values', () => {
  const any = { $ref: '#/components/schemas/__shared#/$defs/schema0' };
  const map = { type: 'object', propertyNames: { type: 'string' }, additionalProperties: any };
  expect(tidy({ items: [map] })).toEqual({ items: [{ type: 'object', additionalProperties: true }] });
  const known = { ...map, additionalProperties: { type: 'boolean' } };
  expect(tidy(known)).toEqual({ type: 'object', additionalProperties: { type: 'boolean' } });
});
