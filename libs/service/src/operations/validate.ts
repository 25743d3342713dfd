import { ApiError } from '@kith/base';
import {
  type ErrorCode,
  type Fault,
  isErrorCode,
  methodsOf,
  nameOf,
  type OperationSpec,
  readInput,
  unknownFault,
} from '@kith/contracts';
import { z } from 'zod';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a body as a JSON object. An empty body counts as `{}`. Throws `request/invalid-json` (spec#requests-no-body,
 * spec#requests-invalid-json).
 */
export function parseJsonObject(body: Uint8Array): Record<string, unknown> {
  if (body.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(body));
  } catch {
    // The cause is left out, because the parser's message quotes the input.
    throw new ApiError('request/invalid-json');
  }
  const fault = structureFault(value);
  if (fault) throw new ApiError('request/invalid-json', { message: `The body ${fault}.` });
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError('request/invalid-json');
  }
  return value as Record<string, unknown>;
}

/**
 * How many levels a body may nest. Code that traverses or writes JSON is recursive, so a few thousand levels would overflow the
 * stack.
 */
const deepest = 100;

/**
 * What makes the structure of a parsed JSON value unfit for a body: too many levels, or a key `__proto__`. Returns undefined if
 * nothing does. The schemas drop a key `__proto__` silently, because it could replace the prototype of an object.
 */
export function structureFault(value: unknown, depth = 0): string | undefined {
  if (depth > deepest) return `nests deeper than ${deepest} levels`;
  if (typeof value !== 'object' || value === null) return undefined;
  // `for … in` would turn each index of an array into a string, which takes several times as long.
  if (Array.isArray(value)) {
    for (const item of value) {
      const fault = structureFault(item, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  }
  for (const name in value) {
    if (name === '__proto__') return 'has a key __proto__, which is not allowed';
    const fault = structureFault(value[name as keyof typeof value], depth + 1);
    if (fault) return fault;
  }
  return undefined;
}

/**
 * Validates the body, then the query, then the params, in the order of spec#errors-check-order. Throws the contract's code,
 * with `field` for the body and the query. If several of their fields are wrong, also gives `errors`.
 */
export function validateRequest(
  declared: OperationSpec,
  raw: {
    body: Record<string, unknown>;
    query: string;
    params: Record<string, string>;
    isServerKey?: boolean;
  },
): { body: unknown; query: unknown; params: unknown } {
  const spec = specFor(declared, raw);
  const given = unwrapped(spec, raw.body);
  if (spec.auth === 'operator') refuseUnknown(unknownIn(shapeOf(spec.body), Object.keys(given)));
  const body = check(spec, 'body', spec.body, given);
  if (methodsOf(spec).includes('PATCH')) refuseNothingKnown(spec, given);
  const query = validateQuery(spec, raw.query);
  const params = check(spec, 'params', spec.params, raw.params);
  return { body, query, params };
}

/**
 * The keys of a body that its contract does not name. Such keys are misspelt or belong to another API. Returns at most ten of
 * them. Long keys are shortened, as they are in error messages.
 */
export function unreadKeys(
  declared: OperationSpec,
  body: Record<string, unknown>,
  sender: { isServerKey?: boolean },
): string[] {
  const spec = specFor(declared, sender);
  const { body: schema } = spec;
  if (!(schema instanceof z.ZodObject)) return [];
  return unknownIn(schema.shape, Object.keys(unwrapped(spec, body)))
    .slice(0, 10)
    .map((key) => nameOf([key]));
}

/** A server key that acts for nobody may send further fields (spec#users-role-server-keys). */
function specFor(declared: OperationSpec, { isServerKey }: { isServerKey?: boolean }): OperationSpec {
  const { serverKeyBody } = declared;
  return isServerKey && serverKeyBody ? { ...declared, body: serverKeyBody } : declared;
}

/** Takes the body out of the single field in which older clients wrap it (spec#existing-clients-update). */
function unwrapped({ wrapped }: OperationSpec, body: Record<string, unknown>): Record<string, unknown> {
  const inner = wrapped === undefined ? undefined : body[wrapped];
  const isWrapped = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  return isWrapped ? (inner as Record<string, unknown>) : body;
}

function shapeOf(schema: z.ZodType): object {
  return schema instanceof z.ZodObject ? schema.shape : {};
}

function unknownIn(shape: object, names: readonly string[]): string[] {
  return names.filter((name) => !Object.hasOwn(shape, name));
}

/** An operator's input is never ignored. It is either stored or refused (spec#requests-admin-unknown). */
function refuseUnknown(names: readonly string[]): void {
  const [first, ...others] = names.slice(0, 100).map((name) => unknownFault(nameOf([name])));
  if (first) throw refusal('request/unknown-field', [first, ...others]);
}

/** Refuses a change if the operation knows none of its fields (spec#requests-patch-nothing-known). */
function refuseNothingKnown(spec: OperationSpec, body: Record<string, unknown>): void {
  const fields = Object.keys(shapeOf(spec.body));
  const [field] = fields;
  const given = Object.keys(body);
  if (field === undefined || given.length === 0 || given.some((key) => fields.includes(key))) return;
  const message = `The body has none of the fields that can be changed here: ${fields.join(', ')}.`;
  throw new ApiError(codeFor(spec, 'body', field), { message, field });
}

/**
 * Reads the contract's parameters from a query string. Refuses a parameter that occurs twice
 * (spec#requests-repeated-parameter). For operators, also refuses an unknown parameter. Throws like `validateRequest`.
 */
export function validateQuery(spec: OperationSpec, query: string): unknown {
  const given = new URLSearchParams(query);
  if (spec.auth === 'operator') refuseUnknown(unknownIn(spec.query.shape, [...given.keys()]));
  const values: Record<string, string> = {};
  const repeated: Fault[] = [];
  for (const name of Object.keys(spec.query.shape)) {
    const [value, ...others] = given.getAll(name);
    if (value !== undefined) values[name] = value;
    if (others.length > 0) repeated.push({ field: name, error: `${name} must be given only once.` });
  }
  return check(spec, 'query', spec.query, values, repeated);
}

/** Validates only one part of a request: the fields of a form, or the params. Throws like `validateRequest`. */
export function validatePart(spec: OperationSpec, place: 'body' | 'params', value: unknown): unknown {
  return check(spec, place, spec[place], value);
}

type Place = 'body' | 'query' | 'params';

/** @param found Faults that were found before the schema checks the value, such as repeated parameters. */
function check(
  spec: OperationSpec,
  place: Place,
  schema: z.ZodType,
  value: unknown,
  found: readonly Fault[] = [],
): unknown {
  const read = readInput(schema, value);
  if (!read.faults && found.length === 0) return read.data;
  const faults = inOrder([...found, ...(read.faults ?? [])], schema);
  const unknown = faults.filter(({ isUnknown }) => isUnknown);
  if (hasAny(unknown)) throw refusal('request/unknown-field', unknown);
  const [{ code, field }] = faults;
  // If a name in a path is invalid, the answer is the same as if nothing had this name (spec#collections-not-found).
  if (place === 'params') throw new ApiError(codeFor(spec, place, field));
  throw refusal(code ?? codeFor(spec, place, field), faults);
}

type Faults = readonly [Fault, ...Fault[]];

function hasAny(faults: readonly Fault[]): faults is Faults {
  return faults.length > 0;
}

/**
 * Returns one fault per field. Faults without an error code of their own come first, then the faults with such a code. Each
 * group is in the order of the contract.
 */
function inOrder(faults: Fault[], schema: z.ZodType): Faults {
  const names = Object.keys(shapeOf(schema));
  const placeOf = ({ field }: Fault) => names.indexOf(field.split('.', 1)[0] as string);
  const first = faults.filter(({ field }, at) => faults.findIndex((one) => one.field === field) === at);
  const rankOf = ({ code }: Fault) => Number(code !== undefined);
  return first.sort((a, b) => rankOf(a) - rankOf(b) || placeOf(a) - placeOf(b)) as unknown as Faults;
}

/**
 * The refusal of inputs. It names the first fault. If there are several faults, the refusal lists all of them
 * (spec#errors-several).
 */
function refusal(code: ErrorCode, faults: Faults): ApiError {
  const [{ field, error }] = faults;
  const all = faults.map((fault) => ({ field: fault.field, error: fault.error }));
  return new ApiError(code, {
    message: error,
    ...(field ? { field } : {}),
    ...(faults.length > 1 ? { errors: all } : {}),
  });
}

/**
 * The code for a fault in a part of a request: the contract's entry for the field, or else its entry for the part. If there is
 * no entry, the code is `<feature>/invalid-<place>`. For params, the code is then `route/not-found`.
 */
function codeFor(spec: OperationSpec, place: Place, field: string): ErrorCode {
  const exact = spec.invalid?.[`${place}.${field}`] ?? spec.invalid?.[place];
  if (exact) return exact;
  const general = place === 'params' ? 'route/not-found' : `${spec.feature}/invalid-${place}`;
  return isErrorCode(general) ? general : 'route/not-found';
}
