import type { JsonObject } from './json.ts';

/**
 * How long the strings of each format can be. The patterns of these formats are left out, because they say no more than the
 * format.
 */
const lengths: Readonly<Record<string, number>> = { uuid: 36, 'date-time': 35, date: 10 };
const largestInt32 = 2 ** 31 - 1;

/** Rewrites a JSON Schema from zod into one that reads well in the document. */
export function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== 'object' || value === null) return value;
  const schema = Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== '$schema' && key !== '$id')
      .map(([key, inner]) => [key, tidy(inner)]),
  );
  return orNull(number(text(map(schema))));
}

function text(schema: JsonObject): JsonObject {
  const longest = lengths[String(schema.format)];
  if (schema.type !== 'string' || longest === undefined) return schema;
  const { pattern: _, ...rest } = schema;
  return { ...rest, maxLength: longest };
}

/**
 * Gives an integer its format, and removes its pattern. Only numbers in a query have a pattern, because zod reads them from
 * texts.
 */
function number(schema: JsonObject): JsonObject {
  if (schema.type !== 'integer') return schema;
  const { pattern: _, ...rest } = schema;
  return { ...rest, format: Number(schema.maximum) <= largestInt32 ? 'int32' : 'int64' };
}

/** Removes the schema of a map's keys, because keys are always strings. If the values may be any JSON, writes `true` for them. */
function map(schema: JsonObject): JsonObject {
  if (schema.type !== 'object' || !schema.propertyNames) return schema;
  const { propertyNames: _, ...rest } = schema;
  const inner = JSON.stringify(schema.additionalProperties ?? {});
  return inner.includes('__shared') ? { ...rest, additionalProperties: true } : rest;
}

/** Turns `anyOf` of a plain type and null into one `type` that lists both. */
function orNull(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [first, second] = anyOf as [JsonObject, JsonObject];
  if (second.type !== 'null' || typeof first.type !== 'string' || first.enum || 'const' in first)
    return schema;
  return { ...first, ...rest, type: [first.type, 'null'] };
}
