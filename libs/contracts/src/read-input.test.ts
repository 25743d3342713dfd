import { expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from './operations/index.ts';
import { readInput } from './read-input.ts';

const wrong = [
  null,
  7,
  -1,
  1.5,
  2 ** 60,
  // The number that JSON's `1e999` is parsed to.
  Number.POSITIVE_INFINITY,
  true,
  '',
  ' ',
  'x',
  '\ud800',
  'x'.repeat(70_000),
  [],
  {},
  { k: 1 },
  ['x', 1],
];

/** Values that break a schema in every possible way, also in its nested parts. */
function badInputs(schema: z.ZodType): unknown[] {
  const { def } = schema as unknown as { def: Record<string, unknown> };
  const within = (inner: unknown) => badInputs(inner as z.ZodType);
  const inner = [def.innerType, def.in, def.out].filter(Boolean).flatMap(within);
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries(schema.shape as Record<string, z.ZodType>);
    const ofKeys = shape.flatMap(([key, value]) => badInputs(value).map((bad) => ({ [key]: bad })));
    return [...wrong, ...ofKeys, { unknown: 1 }];
  }
  if (schema instanceof z.ZodArray) {
    return [
      ...wrong,
      ...within(schema.element).map((bad) => [bad]),
      Array.from({ length: 1001 }, () => ({})),
    ];
  }
  if (schema instanceof z.ZodRecord)
    return [...wrong, ...within(schema.valueType).map((bad) => ({ 'a.b': bad }))];
  return inner.length > 0 ? inner : wrong;
}

const validators =
  /expected|received|invalid|too (big|small|long|short)|unrecognized|[<>]=?|\bNaN\b|is not valid|undefined/i;
const inputs = operations.flatMap((spec) =>
  (
    [
      ['body', spec.body],
      ['query', spec.query],
      ['params', spec.params],
    ] as const
  ).map(([place, schema]) => [`${spec.name} ${place}`, schema] as const),
);

test.each(inputs)('%s: every fault is a sentence that names its field', (_, schema) => {
  const keys = Object.keys((schema as z.ZodObject).shape);
  const faults = badInputs(schema).flatMap((bad) => readInput(schema, bad).faults ?? []);
  if (keys.length > 0) expect(faults.length).toBeGreaterThan(keys.length);
  for (const { field, error } of faults) {
    expect(error).not.toMatch(validators);
    expect(error).toMatch(/^\S.*\.$/);
    const isWhole = /^\p{Lu}/u.test(error);
    expect(isWhole || error.startsWith(`${field} `), `${field}: ${error}`).toBe(true);
  }
});

const schema = z.object({
  email: z.string().min(1),
  age: z.int().min(18).max(120),
  tags: z
    .array(z.enum(['a', 'b']))
    .max(2)
    .optional(),
  kind: z.literal('x').optional(),
  deep: z.strictObject({ when: z.iso.date() }).optional(),
});
const said = (value: unknown) => readInput(schema, value).faults?.map(({ error }) => error);

test('readInput describes inputs that are missing, have the wrong type, or are out of bounds', () => {
  expect(readInput(schema, { email: 'a', age: 20, other: 1 })).toEqual({ data: { email: 'a', age: 20 } });
  expect(said({})).toEqual(['email is required.', 'age is required.']);
  expect(said({ email: 7, age: '7' })).toEqual(['email must be a string.', 'age must be a number.']);
  expect(said({ email: '', age: 1.5 })).toEqual(['email must not be empty.', 'age must be a whole number.']);
  expect(said({ email: 'a', age: 17 })).toEqual(['age must be a number of at least 18.']);
  expect(said({ email: 'a', age: 121 })).toEqual(['age must be a number of at most 120.']);
  expect(said({ email: 'a', age: 20, tags: ['a', 'a', 'b'] })).toEqual(['tags must have at most 2 items.']);
  expect(said({ email: 'a', age: 20, tags: ['c'], kind: 'y' })).toEqual([
    'tags.0 must be one of: a, b.',
    'kind must be x.',
  ]);
  expect(said({ email: 'a', age: 20, deep: { when: 'soon', since: 1 } })).toEqual([
    'deep.when must be a date, YYYY-MM-DD.',
    'deep.since is not a field of this endpoint.',
  ]);
  expect(said({ email: 'a', age: 20, deep: 7 })).toEqual(['deep must be a JSON object.']);
  expect(said([])).toEqual(['The input must be a JSON object.']);
});

test('a message that is a whole sentence stays unchanged, even if its field is missing', () => {
  const named = z.object({ user: z.string('Name the user.'), day: z.iso.date('must be a day.') });
  expect(readInput(named, {}).faults?.map(({ error }) => error)).toEqual([
    'Name the user.',
    'day is required.',
  ]);
  expect(readInput(named, { user: 1, day: 1 }).faults?.map(({ error }) => error)).toEqual([
    'Name the user.',
    'day must be a day.',
  ]);
});

test('readInput returns one fault per field and at most a hundred faults, and shortens long names', () => {
  const twice = z.object({
    name: z
      .string()
      .refine(() => false, 'must be one.')
      .refine(() => false, 'must be two.'),
  });
  expect(readInput(twice, { name: '' }).faults).toEqual([{ field: 'name', error: 'name must be one.' }]);
  const many = z.object({ rows: z.array(z.string()) });
  expect(readInput(many, { rows: Array.from({ length: 100_000 }, () => 7) }).faults).toHaveLength(100);
  const named = readInput(z.record(z.string(), z.string()), { ['x'.repeat(1000)]: 7 }).faults;
  expect(named?.[0].field).toBe('x'.repeat(64));
});
