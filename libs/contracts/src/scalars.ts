import { z } from 'zod';

/**
 * A UUID: 8-4-4-4-12 hexadecimal digits, any version or variant, lower-cased (spec#addresses-uuid,
 * spec#addresses-uuid-case).
 */
export const uuid = z.guid().transform((id) => id.toLowerCase());

/** An ISO 8601 instant in UTC with milliseconds (spec#requests-timestamps). */
export const timestamp = z.iso.datetime({ precision: 3 });

/** An ISO 8601 instant with any offset, as clients send it. */
export const instant = z.iso.datetime({ offset: true, error: 'must be an ISO 8601 time with an offset.' });

/** An instant that a `timestamp` can express: its year has four digits. */
export const tellableInstant = instant.refine(
  (value) => Date.parse(value) < 253_402_300_800_000,
  'must be before the year 10000.',
);

/** Counts Unicode code points, the unit of every length in the API (spec#requests-lengths). */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** No string in a body can be longer than this, because the size of bodies is limited (spec#requests-too-large). */
export const longestString = 256 * 1024;

/**
 * A string in an answer, of at most `max` code points. The schema documents this limit, but does not check it. Readers of an
 * answer or an event must not refuse a value that an older version stored. The limit is checked when a value is received from a
 * client.
 */
export function shownText(max: number) {
  return z.string().meta({ maxLength: max });
}

/** A count of things. */
export const wholeNumber = z.int().min(0);

/**
 * A string that is trimmed and then counted in code points. Lone surrogates are refused, because they are not valid Unicode
 * text, and no store could return them unchanged.
 */
export function text(bounds: { min?: number; max: number }) {
  const { min = 0, max } = bounds;
  return (
    z
      .string()
      .transform((value) => value.trim())
      .refine((value) => value.isWellFormed(), 'must be well-formed Unicode.')
      .refine(
        (value) => {
          const length = codePoints(value);
          return length >= min && length <= max;
        },
        min > 0 ? `must be ${min} to ${max} characters long.` : `must be at most ${max} characters long.`,
      )
      // A blank text is empty after trimming, so it is too short. JSON Schema has no trimming, so the pattern requires at least
      // one character that is not blank.
      .meta(min > 0 ? { minLength: min, maxLength: max, pattern: '\\S' } : { maxLength: max })
  );
}

/** A text that may be absent or cleared. An absent text stays absent. Null and a blank text give null. */
export function clearableText(max: number) {
  return clearable(text({ max }));
}

/** Like `clearableText`, but for a text whose schema has its own rules. The schema must accept a blank text. */
export function clearable<S extends z.ZodType<string>>(schema: S) {
  return schema
    .nullable()
    .transform((value) => value || null)
    .optional();
}

/** An optional text: absent, null and blank all give null. */
export function optionalText(max: number) {
  return clearableText(max).transform((value) => value ?? null);
}

/**
 * Checks the size of a value before the schema checks the content. Checking the content may take a hundred times as long, so a
 * value that is too large has to be refused first.
 * @param refusal Returns the message for a value that is too large, and undefined for other values.
 */
export function sized<S extends z.ZodType>(schema: S, refusal: (value: object) => string | undefined) {
  const looked = z.preprocess((value, context) => {
    const message = typeof value === 'object' && value !== null ? refusal(value) : undefined;
    if (message === undefined) return value;
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  }, schema);
  // The cast keeps the input type of the schema. Without it, the input type would be `unknown`.
  return looked as unknown as z.ZodType<z.output<S>, z.input<S>>;
}

/** A JSON object of at most `bytes` bytes as UTF-8 JSON. */
export function jsonObject(bytes: number) {
  const tooLarge = `must be at most ${bytes} bytes of JSON.`;
  return sized(z.record(z.string(), z.json()), (value) => (sizeOf(value) > bytes ? tooLarge : undefined));
}

function sizeOf(value: object): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** A positive whole number in a query string. A number above `max` counts as `max`. */
export function clampedInteger(max: number) {
  const isSafe = max === Number.MAX_SAFE_INTEGER;
  const message = isSafe ? 'must be a number of at least 1.' : `must be a number from 1 to ${max}.`;
  return z
    .string()
    .regex(/^\d+$/, message)
    .transform((digits) => Math.min(Number(digits), max))
    .refine((value) => value > 0, message)
    .meta({ type: 'integer', minimum: 1 });
}

/** A positive whole number in a query string. A number above the largest safe integer counts as that integer. */
export const positiveInteger = clampedInteger(Number.MAX_SAFE_INTEGER);
