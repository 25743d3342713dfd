import fc, { type Arbitrary } from 'fast-check';
import { conforms, type Schema } from './described.ts';

/** Only a few generated texts are longer than this. */
const usual = 300;

const anyJson = fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' });
const anyObject = fc.dictionary(fc.string({ maxLength: 10 }), anyJson, { maxKeys: 3 });

/** Values that a schema allows. */
export function allowedBy(schema: Schema): Arbitrary<unknown> {
  return made(schema).filter((value) => conforms(schema, value));
}

/**
 * Values that a schema forbids. They have another type, are too long, have too many elements, lack a required member, or have
 * an unknown member.
 */
export function forbiddenBy(schema: Schema): Arbitrary<unknown> {
  return fc.oneof(...wrongs(schema)).filter((value) => !conforms(schema, value));
}

/** Values that mostly conform to the schema. A filter later removes the values that break other rules of the schema. */
function made(schema: Schema): Arbitrary<unknown> {
  const { anyOf, enum: choices, type, format, pattern } = schema;
  if (anyOf) return fc.oneof(...(anyOf as Schema[]).map(made));
  if (choices) return fc.constantFrom(...(choices as unknown[]));
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => made({ ...schema, type: one })));
  const { minLength = 0, maxLength = usual } = schema as { minLength?: number; maxLength?: number };
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer': {
      const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema as Limits;
      return fc
        .oneof(
          fc.integer({ min: Math.max(minimum, 0), max: Math.min(maximum, Math.max(minimum, 0) + 100) }),
          fc.maxSafeInteger(),
        )
        .filter((value) => value >= minimum && value <= maximum);
    }
    case 'number':
      return fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case 'array': {
      const {
        items = {},
        minItems = 0,
        maxItems = 3,
      } = schema as { items?: Schema; minItems?: number; maxItems?: number };
      return fc.array(made(items), { minLength: minItems, maxLength: Math.min(maxItems, minItems + 3) });
    }
    case 'object':
      return madeObject(schema);
    case 'string':
      break;
    default:
      return anyJson;
  }
  if (format)
    return formats[format as string]?.() ?? fc.string({ minLength, maxLength: Math.min(maxLength, usual) });
  if (String(pattern ?? '').startsWith('^')) {
    return fc
      .stringMatching(new RegExp(pattern as string))
      .filter(({ length }) => length >= minLength && length <= maxLength);
  }
  const within = { minLength, maxLength: Math.min(maxLength, usual) };
  return fc.oneof(
    { weight: 6, arbitrary: fc.string({ ...within, unit: 'grapheme-ascii' }) },
    { weight: 2, arbitrary: fc.string({ ...within, unit: 'binary' }) },
    // A text of the greatest allowed length, but of at most 1,200 characters. Each of its characters has two UTF-16 units.
    { weight: 1, arbitrary: fc.constant('🦊'.repeat(Math.min(maxLength, 4 * usual))) },
    { weight: 1, arbitrary: fc.constant('x'.repeat(Math.min(maxLength, 64 * usual))) },
  );
}

interface Limits {
  minimum?: number;
  maximum?: number;
}

const formats: Readonly<Record<string, () => Arbitrary<string>>> = {
  uuid: () => fc.uuid(),
  email: () => fc.emailAddress(),
  date: () => fc.date({ noInvalidDate: true, ...years }).map((date) => date.toISOString().slice(0, 10)),
  'date-time': () =>
    fc
      .tuple(fc.date({ noInvalidDate: true, ...years }), fc.constantFrom('Z', '+02:00', '-11:30'))
      .map(([date, zone]) => date.toISOString().replace('Z', zone)),
};
const years = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z') };

function madeObject(schema: Schema): Arbitrary<unknown> {
  const {
    properties = {},
    required = [],
    additionalProperties,
  } = schema as {
    properties?: Record<string, Schema>;
    required?: string[];
    additionalProperties?: boolean | Schema;
  };
  const fields = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, made(one)])),
    { requiredKeys: required },
  );
  if (additionalProperties === false) return fields;
  const others =
    typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
      ? fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), made(additionalProperties), { maxKeys: 2 })
      : anyObject;
  return fc.tuple(others, fields).map(([more, own]) => ({ ...more, ...own }));
}

/** Generators of wrong values. A few of their values conform to the schema by chance. */
function wrongs(schema: Schema): Arbitrary<unknown>[] {
  const { anyOf, properties, items, maxLength, minLength, pattern, format, required, type } = schema as {
    anyOf?: Schema[];
    properties?: Record<string, Schema>;
    items?: Schema;
    maxLength?: number;
    minLength?: number;
    pattern?: string;
    format?: string;
    required?: string[];
    type?: unknown;
  };
  const others = fc.constantFrom<unknown>(null, true, 7, -1, 1.5, 'x', '', [], {}, [null]);
  const ways: Arbitrary<unknown>[] = [others];
  const isText = type === 'string' || (Array.isArray(type) && type.includes('string'));
  if (isText && maxLength !== undefined && maxLength < 100_000)
    ways.push(fc.constant('x'.repeat(maxLength + 1)));
  if (isText && minLength) ways.push(fc.constant(''));
  if (isText && (pattern || format))
    ways.push(fc.string({ minLength: 1, maxLength: Math.min(maxLength ?? 20, 20) }));
  const { minimum, maximum } = schema as Limits;
  if (minimum !== undefined) ways.push(fc.integer({ min: minimum - 1_000, max: minimum - 1 }));
  if (maximum !== undefined && maximum < 2 ** 31) ways.push(fc.constant(maximum + 1));
  if (items) {
    ways.push(forbiddenBy(items).map((one) => [one]));
    const { maxItems } = schema as { maxItems?: number };
    if (maxItems !== undefined) ways.push(made(items).map((one) => Array(maxItems + 1).fill(one)));
  }
  if (properties) {
    const good = madeObject(schema) as Arbitrary<Record<string, unknown>>;
    for (const name of required ?? []) {
      ways.push(good.map(({ [name]: _, ...rest }) => rest));
    }
    for (const [name, one] of Object.entries(properties)) {
      if (Object.keys(one).length === 0) continue;
      ways.push(fc.tuple(good, forbiddenBy(one)).map(([own, wrong]) => ({ ...own, [name]: wrong })));
    }
    if (schema.additionalProperties === false) ways.push(good.map((own) => ({ ...own, unknownKey: 1 })));
  }
  for (const one of anyOf ?? []) ways.push(...wrongs(one));
  return ways;
}
