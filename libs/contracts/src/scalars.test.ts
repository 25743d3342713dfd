import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  clearableText,
  codePoints,
  jsonObject,
  optionalText,
  positiveInteger,
  text,
  timestamp,
  uuid,
} from './scalars.ts';

const ok = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

describe('text', () => {
  const short = text({ min: 1, max: 3 });

  test.each([
    ['abc', 3],
    ['😀😀😀', 3],
    ['👩‍👩‍👧', 5],
    ['e\u0301', 2],
    ['', 0],
  ])('%j has %i code points', (value, points) => {
    expect(codePoints(value)).toBe(points);
  });

  test('trims a text, then counts its code points; spaces and control characters within the text stay', () => {
    expect(short.parse('  abc\n')).toBe('abc');
    expect(short.parse('\u00a0\ufeff\u2003a b\u3000')).toBe('a b');
    expect(short.parse('a\u0000b')).toBe('a\u0000b');
    expect(short.parse('😀😀😀')).toBe('😀😀😀');
  });

  test.each(['', '   ', 'abcd', '😀😀😀😀', '\ud800', 'a\udc00', '\udc00\ud800', 7, null, undefined, ['a']])(
    'refuses %j',
    (value) => {
      expect(ok(short, value)).toBe(false);
    },
  );

  test('a parsed text is trimmed, well-formed and within its bounds, and parsing it again changes nothing', () => {
    const bounded = text({ min: 1, max: 20 });
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (value) => {
        const parsed = bounded.safeParse(value);
        const trimmed = value.trim();
        const length = [...trimmed].length;
        expect(parsed.success).toBe(length >= 1 && length <= 20 && trimmed.isWellFormed());
        if (parsed.success) expect(bounded.parse(parsed.data)).toBe(parsed.data);
      }),
    );
  });

  test('optional texts can be absent, null or blank', () => {
    expect([undefined, null, ' ', 'a'].map((value) => optionalText(3).parse(value))).toEqual([
      null,
      null,
      null,
      'a',
    ]);
    expect([undefined, null, ' ', 'a'].map((value) => clearableText(3).parse(value))).toEqual([
      undefined,
      null,
      null,
      'a',
    ]);
    expect(ok(optionalText(3), 'abcd')).toBe(false);
    expect(ok(optionalText(3), 7)).toBe(false);
  });
});

test('uuid accepts any version and variant in upper or lower case, and returns lower case', () => {
  for (const id of [
    '00000000-0000-0000-0000-000000000000',
    'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
    '7C9E6679-7425-90DE-F44B-E07FC1F90AE7',
  ]) {
    expect(uuid.parse(id)).toBe(id.toLowerCase());
  }
  for (const id of [
    '',
    'x',
    '7c9e6679742540de944be07fc1f90ae7',
    '7c9e6679-7425-40de-944b-e07fc1f90ae',
    '{7c9e6679-7425-40de-944b-e07fc1f90ae7}',
    ' 7c9e6679-7425-40de-944b-e07fc1f90ae7',
    '7c9e6679-7425-40de-944b-e07fc1f90aeg',
    '7c9e6679-7425-40de-944b-e07fc1f90ae7\n',
    7,
    null,
  ]) {
    expect(ok(uuid, id)).toBe(false);
  }
});

test('positiveInteger accepts only digits, and numbers of any size', () => {
  expect(positiveInteger.parse('1')).toBe(1);
  expect(positiveInteger.parse('007')).toBe(7);
  expect(positiveInteger.parse('9'.repeat(400))).toBe(Number.MAX_SAFE_INTEGER);
  for (const value of ['', '0', '00', '-1', '+1', '1.0', '1e3', ' 1', '1\n', '٣', '0x1', 1, null]) {
    expect(ok(positiveInteger, value)).toBe(false);
  }
});

test('timestamp is UTC with milliseconds', () => {
  expect(ok(timestamp, new Date(0).toISOString())).toBe(true);
  for (const value of ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000+00:00', '2026-01-01', 0]) {
    expect(ok(timestamp, value)).toBe(false);
  }
});

test('jsonObject counts bytes of UTF-8 JSON', () => {
  const small = jsonObject(10);
  expect(small.parse({ a: 'xy' })).toEqual({ a: 'xy' });
  expect(ok(small, { a: 'xyz' })).toBe(false);
  expect(ok(small, { a: 'é' })).toBe(true);
  expect(ok(small, { a: 'é€' })).toBe(false);
  for (const value of [null, [], 'x', 1, undefined]) expect(ok(small, value)).toBe(false);
});
