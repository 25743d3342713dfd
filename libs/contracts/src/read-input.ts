import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';

/** One input that breaks its contract. */
export interface Fault {
  /** The path to the input, such as `payload.id`; empty for the whole input. */
  field: string;
  /** A sentence that says what to send, with the names that the request uses (spec#errors-sentence). */
  error: string;
  /** The error code that the broken rule names, if it names any. */
  code?: ErrorCode;
  /** Set if the contract has no field of this name. */
  isUnknown?: true;
}

export type ReadInput<Data> =
  | { data: Data; faults?: undefined }
  | { data?: undefined; faults: readonly [Fault, ...Fault[]] };

/**
 * The largest number of faults in an answer. Without this limit, one body could cause an answer with a hundred thousand faults.
 */
const mostFaults = 100;
/**
 * At most this many characters of a field's name are shown, because a name that a caller has made up may have any length. The
 * names in the contracts are shorter.
 */
const longestName = 64;

/**
 * Checks an input by its schema, and returns the parsed data or the faults. All sentences that say what is wrong with an input
 * are made by this function. Each field has at most one fault, and the faults are in the order in which the contract lists the
 * fields (spec#errors-sentence, spec#errors-several).
 *
 * A schema may have its own message. A message that begins with a capital is a whole sentence. Any other message is put after
 * the field's name: `must be a UUID.`
 */
export function readInput<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): ReadInput<z.output<Schema>> {
  const parsed = schema.safeParse(value, { error: words });
  if (parsed.success) return { data: parsed.data };
  const faults = new Map<string, Fault>();
  for (const issue of parsed.error.issues) {
    for (const fault of faultsOf(issue, value)) {
      if (!faults.has(fault.field)) faults.set(fault.field, fault);
    }
    if (faults.size >= mostFaults) break;
  }
  return { faults: [...faults.values()] as [Fault, ...Fault[]] };
}

function faultsOf(issue: z.core.$ZodIssue, value: unknown): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, mostFaults).map((key) => unknownFault(nameOf([...issue.path, key])));
  }
  const field = nameOf(issue.path);
  const code = issue.code === 'custom' ? (issue.params?.code as ErrorCode | undefined) : undefined;
  const isMissing = issue.code !== 'custom' && valueAt(value, issue.path) === undefined;
  const message = isMissing && !isWhole(issue.message) ? required : issue.message;
  return [{ field, error: sentenceOf(field, message), ...(code ? { code } : {}) }];
}

/** The fault of a field that a contract does not have. */
export function unknownFault(field: string): Fault {
  return { field, error: `${field} is not a field of this endpoint.`, isUnknown: true };
}

/** Joins a path to the name of a field. Each part is cut to `longestName`. */
export function nameOf(path: readonly PropertyKey[]): string {
  return path.map((name) => String(name).slice(0, longestName)).join('.');
}

function sentenceOf(field: string, message: string): string {
  return isWhole(message) ? message : `${field || 'The input'} ${message}`;
}

function isWhole(message: string): boolean {
  return /^\p{Lu}/u.test(message);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const name of path) at = (at as Record<PropertyKey, unknown> | null | undefined)?.[name];
  return at;
}

const required = 'is required.';

const types: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  record: 'a JSON object',
};

const formats: Readonly<Record<string, string>> = {
  guid: 'a UUID',
  email: 'an e-mail address',
  date: 'a date, YYYY-MM-DD',
  datetime: 'an ISO 8601 time',
};

/** The words that follow the field's name, for a schema that has no message of its own. */
function words(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${types[issue.expected] ?? 'of another type'}.`;
    case 'invalid_format':
      return `must be ${formats[issue.format] ?? 'of another form'}.`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of: ' : ''}${issue.values.join(', ')}.`;
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'is not an allowed name.';
    case 'too_small':
      return atLeast(issue.origin, Number(issue.minimum));
    case 'too_big':
      return atMost(issue.origin, Number(issue.maximum));
    case 'invalid_union':
      // Only `z.json()` gets here, because every other union has a message of its own. A body is JSON, so what breaks the rule is
      // a number that JavaScript reads as infinite.
      return 'must be a JSON value, with numbers from -1.79e308 to 1.79e308.';
    default:
      return 'is not valid.';
  }
}

function atLeast(origin: string, least: number): string {
  if (origin === 'string') {
    return least === 1 ? 'must not be empty.' : `must be at least ${least} characters long.`;
  }
  return origin === 'array'
    ? `must have at least ${least === 1 ? 'one item' : `${least} items`}.`
    : `must be a number of at least ${least}.`;
}

function atMost(origin: string, most: number): string {
  if (origin === 'string') return `must be at most ${most} characters long.`;
  return origin === 'array' ? `must have at most ${most} items.` : `must be a number of at most ${most}.`;
}
