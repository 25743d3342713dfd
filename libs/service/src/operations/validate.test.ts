import { ApiError } from '@kith/base';
import { type OperationSpec, operation, positiveInteger, text, uuid } from '@kith/contracts';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseJsonObject, validateRequest } from './validate.ts';

const spec = operation({
  name: 'collections.try',
  summary: 'Try',
  feature: 'collection',
  method: 'POST',
  path: '/try/:collectionId',
  scope: 'project',
  auth: 'user',
  limit: null,
  params: z.object({ collectionId: uuid }),
  query: z.object({ limit: positiveInteger.default(7), cursor: z.string().optional() }),
  body: z
    .object({ name: text({ min: 1, max: 5 }), deep: z.object({ list: z.array(z.int()) }).optional() })
    .refine(({ name }) => name !== 'weak', {
      path: ['name'],
      params: { code: 'auth/weak-password' },
      error: 'must be stronger.',
    }),
  output: z.object({}),
  status: 200,
  errors: [],
  invalid: { params: 'collection/not-found', 'body.name': 'collection/invalid-name' },
});
const id = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const good = { body: { name: 'ok' }, query: '', params: { collectionId: id } };

function refusal(raw: Partial<typeof good>, of: OperationSpec = spec) {
  try {
    validateRequest(of, { ...good, ...raw });
  } catch (error) {
    if (error instanceof ApiError) {
      return { code: error.code, field: error.field, message: error.message };
    }
    throw error;
  }
  return undefined;
}

test('validation returns the values that the contract describes, and drops unknown fields', () => {
  const raw = {
    body: { name: '  ok ', deep: { list: [1], more: 1 }, other: true },
    query: 'other=1&other=2&limit=0020&cursor=a%20b',
    params: { collectionId: id.toUpperCase() },
  };
  expect(validateRequest(spec, raw)).toEqual({
    body: { name: 'ok', deep: { list: [1] } },
    query: { limit: 20, cursor: 'a b' },
    params: { collectionId: id },
  });
  expect(validateRequest(spec, good).query).toEqual({ limit: 7 });
});

test('validation checks the body, then the query, then the parameters of the path', () => {
  const wrong = { body: { name: 7 } as never, query: 'limit=x', params: { collectionId: 'x' } };
  expect(refusal(wrong)?.field).toBe('name');
  expect(refusal({ ...wrong, body: good.body })?.field).toBe('limit');
  expect(refusal({ ...wrong, body: good.body, query: '' })).toEqual({
    code: 'collection/not-found',
    field: undefined,
    message: 'No such collection.',
  });
});

test.each([
  ['the code of its own field', { body: { name: '' } }, 'collection/invalid-name', 'name'],
  ['the code that the rule itself names', { body: { name: 'weak' } }, 'auth/weak-password', 'name'],
  [
    'the general code of the body',
    { body: { name: 'ok', deep: {} } as never },
    'collection/invalid-body',
    'deep.list',
  ],
  [
    'the path to the wrong value',
    { body: { name: 'ok', deep: { list: [1, 'x'] } } as never },
    'collection/invalid-body',
    'deep.list.1',
  ],
  ['the general code of the query', { query: 'limit=0' }, 'collection/invalid-query', 'limit'],
  ['a parameter given twice', { query: 'cursor=a&cursor=a' }, 'collection/invalid-query', 'cursor'],
  [
    'a parameter given twice, once encoded',
    { query: 'limit=1&li%6Dit=1' },
    'collection/invalid-query',
    'limit',
  ],
])('answers with %s', (_, raw, code, field) => {
  const refused = refusal(raw);
  expect(refused).toMatchObject({ code, field });
  expect(refused?.message).toMatch(new RegExp(`^${field} (must|is) .*\\.$`));
});

test('if there is more than one wrong field, the error lists all of them, in the order of the contract', () => {
  const several = (raw: Partial<typeof good>) => {
    try {
      validateRequest(spec, { ...good, ...raw });
    } catch (error) {
      return [(error as ApiError).field, (error as ApiError).message, (error as ApiError).errors];
    }
    return undefined;
  };
  expect(several({ body: { deep: { list: ['x'] } } as never })).toEqual([
    'name',
    'name is required.',
    [
      { field: 'name', error: 'name is required.' },
      { field: 'deep.list.0', error: 'deep.list.0 must be a number.' },
    ],
  ]);
  expect(several({ body: { name: 7 } as never })).toEqual(['name', 'name must be a string.', undefined]);
  expect(several({ query: 'cursor=a&cursor=b&limit=0' })).toEqual([
    'limit',
    'limit must be a number of at least 1.',
    [
      { field: 'limit', error: 'limit must be a number of at least 1.' },
      { field: 'cursor', error: 'cursor must be given only once.' },
    ],
  ]);
  expect(several({ query: 'limit=0&limit=1' })).toEqual([
    'limit',
    'limit must be given only once.',
    undefined,
  ]);
});

test('the code for an invalid path is `route/not-found` if the contract names no code', () => {
  expect(refusal({ params: { collectionId: 'x' } }, { ...spec, invalid: {} })?.code).toBe('route/not-found');
});

describe('unknown keys', () => {
  const patch = {
    ...spec,
    method: 'PATCH',
    body: z.object({ name: z.string().optional(), bio: z.string().optional() }),
    invalid: {},
  } as const satisfies OperationSpec;
  const nothingKnown = {
    code: 'collection/invalid-body',
    field: 'name',
    message: 'The body has none of the fields that can be changed here: name, bio.',
  };

  test('a PATCH is refused if none of its fields can be changed', () => {
    expect(refusal({ body: { nmae: 'x', other: 1 } as never }, patch)).toEqual(nothingKnown);
    expect(refusal({ body: { nmae: 'x', bio: 'y' } as never }, patch)).toBeUndefined();
    expect(refusal({ body: {} as never }, patch)).toBeUndefined();
    expect(refusal({ body: { other: 1 } as never }, { ...patch, method: ['PUT', 'PATCH'] })).toEqual(
      nothingKnown,
    );
    expect(refusal({ body: { other: 1 } as never }, { ...patch, body: z.object({}) })).toBeUndefined();
    expect(refusal({ body: { other: 1 } as never }, { ...patch, method: 'POST' })).toBeUndefined();
  });

  test('a PATCH without a required field is refused with the code of that field', () => {
    const rename = { ...patch, body: spec.body, invalid: spec.invalid };
    expect(refusal({ body: { other: 1 } as never }, rename)).toMatchObject({
      code: 'collection/invalid-name',
      field: 'name',
    });
  });

  test('an operator’s endpoint refuses unknown keys, nested ones too, before it checks values', () => {
    const nested = z.object({ name: z.string(), deep: z.strictObject({ list: z.string() }).optional() });
    const operators = { ...spec, auth: 'operator', body: nested } as const satisfies OperationSpec;
    const unknown = (field: string) => ({
      code: 'request/unknown-field',
      field,
      message: `${field} is not a field of this endpoint.`,
    });
    expect(refusal({ body: { name: 7, nmae: 'x' } as never }, operators)).toEqual(unknown('nmae'));
    expect(refusal({ body: { name: 'x', deep: { list: '', more: 1 } } as never }, operators)).toEqual(
      unknown('deep.more'),
    );
    expect(refusal({ query: 'limit=x&lmit=3' }, operators)).toEqual(unknown('lmit'));
    expect(refusal({ query: 'limit=3' }, operators)).toBeUndefined();
    expect(refusal({ query: `${'x'.repeat(300)}=3` }, operators)?.field).toBe('x'.repeat(64));
  });
});

describe('parseJsonObject', () => {
  const bytes = (content: string) => new TextEncoder().encode(content);

  test('accepts an object, and treats a missing body as an empty object', () => {
    expect(parseJsonObject(new Uint8Array())).toEqual({});
    expect(parseJsonObject(bytes(' {"a":[1,null,"é😀"]}\r\n'))).toEqual({ a: [1, null, 'é😀'] });
    expect(parseJsonObject(bytes('\ufeff{"a":1}'))).toEqual({ a: 1 });
  });

  test.each([
    ['an array', bytes('[]')],
    ['null', bytes('null')],
    ['a number', bytes('1')],
    ['a string', bytes('"{}"')],
    ['white space', bytes('  ')],
    ['an object cut short', bytes('{"a":1')],
    ['two objects', bytes('{}{}')],
    ['single quotes', bytes("{'a':1}")],
    ['a comment', bytes('{}//')],
    ['not a number', bytes('{"a":NaN}')],
    ['bytes that are not UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-8 cut short', bytes('{"a":"é"}').slice(0, 7)],
    ['UTF-16', Uint8Array.from(Buffer.from('{}', 'utf16le'))],
  ])('refuses %s, and quotes no part of it', (_, body) => {
    const refused = () => parseJsonObject(body);
    expect(refused).toThrow(new ApiError('request/invalid-json'));
    try {
      refused();
    } catch (error) {
      expect((error as Error).cause).toBeUndefined();
    }
  });

  test.each([
    ['a key __proto__', '{"__proto__":1}', 'The body has a key __proto__, which is not allowed.'],
    [
      'a nested and escaped key __proto__',
      '{"a":[{"b":1},{"\\u005f_proto__":{"c":1}}]}',
      'The body has a key __proto__, which is not allowed.',
    ],
    [
      'more than 100 levels',
      `{"a":${'['.repeat(101)}${']'.repeat(101)}}`,
      'The body nests deeper than 100 levels.',
    ],
  ])('refuses %s, and says why', (_, body, message) => {
    expect(() => parseJsonObject(bytes(body))).toThrow(new ApiError('request/invalid-json', { message }));
  });

  test('accepts the text __proto__ as a value and within a key, and other keys that all objects inherit', () => {
    const body = '{"a":"__proto__","__proto__s":["__proto__"],"constructor":1,"toString":{"prototype":2}}';
    expect(JSON.stringify(parseJsonObject(bytes(body)))).toBe(body);
  });
});
