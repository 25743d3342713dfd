import { ApiError } from '@kith/base';
import { type ErrorCode, isErrorCode, methodsOf, type OperationSpec } from '@kith/contracts';
import { z } from 'zod';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a body as a JSON object; none at all counts as `{}`. Throws `request/invalid-json` (spec#requests-no-body,
 * spec#requests-invalid-json).
 */
export function parseJsonObject(body: Uint8Array): Record<string, unknown> {
  if (body.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(body));
  } catch {
    // Without the cause: the parser's message quotes the input.
    throw new ApiError('request/invalid-json');
  }
  if (isTooDeep(value)) {
    throw new ApiError('request/invalid-json', { message: `The body nests deeper than ${deepest} levels.` });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError('request/invalid-json');
  }
  return value as Record<string, unknown>;
}

/** Levels a body may nest; what walks or writes JSON recurses, and would overflow the stack on a few thousand. */
const deepest = 100;

/** Whether JSON nests deeper than a body may. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (depth > deepest) return true;
  if (typeof value !== 'object' || value === null) return false;
  for (const name in value) {
    if (isTooDeep(value[name as keyof typeof value], depth + 1)) return true;
  }
  return false;
}

/**
 * Validates body, then query, then params, the order of spec#errors-check-order. Throws the contract's code with
 * `field`.
 */
export function validateRequest(
  spec: OperationSpec,
  raw: { body: Record<string, unknown>; query: string; params: Record<string, string> },
): { body: unknown; query: unknown; params: unknown } {
  if (spec.auth === 'operator') refuseUnknown(unreadKeys(spec, raw.body));
  const body = check(spec, 'body', spec.body, raw.body);
  if (methodsOf(spec).includes('PATCH')) refuseNothingKnown(spec, raw.body);
  const query = check(spec, 'query', spec.query, parseQuery(spec, raw.query));
  const params = check(spec, 'params', spec.params, raw.params);
  return { body, query, params };
}

/** Keys of a body that its contract does not name: misspelt, or of another API. At most ten, and no more of each than a name is long. */
export function unreadKeys({ body: schema }: OperationSpec, body: Record<string, unknown>): string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return unknownIn(schema.shape, Object.keys(body));
}

function unknownIn(shape: object, names: Iterable<string>): string[] {
  const unknown = [...names].filter((name) => !Object.hasOwn(shape, name));
  return unknown.slice(0, 10).map((name) => name.slice(0, 64));
}

/** What an operator sets is stored or refused (spec#requests-admin-unknown). */
function refuseUnknown([field]: readonly string[]): void {
  if (field === undefined) return;
  throw new ApiError('request/unknown-field', { message: unknownField(field), field });
}

function unknownField(field: string): string {
  return `${field} is not a field of this endpoint.`;
}

/** Refuses a change of nothing that the operation knows (spec#requests-patch-nothing-known). */
function refuseNothingKnown(spec: OperationSpec, body: Record<string, unknown>): void {
  const fields = spec.body instanceof z.ZodObject ? Object.keys(spec.body.shape) : [];
  const [field] = fields;
  const given = Object.keys(body);
  if (field === undefined || given.length === 0 || given.some((key) => fields.includes(key))) return;
  const message = `The body has none of the fields that can be changed here: ${fields.join(', ')}.`;
  throw new ApiError(codeFor(spec, 'body', field), { message, field });
}

/** Reads the contract's parameters from a query string; refuses one given twice (spec#requests-repeated-parameter). */
function parseQuery(spec: OperationSpec, query: string): Record<string, string> {
  const values: Record<string, string> = {};
  const given = new URLSearchParams(query);
  if (spec.auth === 'operator') refuseUnknown(unknownIn(spec.query.shape, given.keys()));
  for (const name of Object.keys(spec.query.shape)) {
    const all = given.getAll(name);
    if (all.length > 1) {
      throw new ApiError(codeFor(spec, 'query', name), {
        message: `${name}: It is given twice.`,
        field: name,
      });
    }
    if (all[0] !== undefined) values[name] = all[0];
  }
  return values;
}

type Place = 'body' | 'query' | 'params';

function check(spec: OperationSpec, place: Place, schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  // A name that a schema does not know belongs to the caller: no more of it is answered than any of ours is long.
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0]?.slice(0, 64) : undefined;
  const field = [...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])].join('.');
  const own = issue?.code === 'custom' ? issue.params?.code : undefined;
  if (unknown !== undefined) refuseUnknown([field]);
  const code = typeof own === 'string' && isErrorCode(own) ? own : codeFor(spec, place, field);
  const sentence = issue?.message ?? '';
  // What a path names is answered as the thing itself not being there, the same for every reason
  // (spec#collections-not-found).
  if (place === 'params') throw new ApiError(code);
  if (own) throw new ApiError(code, { field });
  throw new ApiError(code, {
    message: field ? `${field}: ${sentence}` : sentence,
    field,
  });
}

/** The code of a failed place: the contract's most exact entry, else `<feature>/invalid-<place>`. */
function codeFor(spec: OperationSpec, place: Place, field: string): ErrorCode {
  const exact = spec.invalid?.[`${place}.${field}`] ?? spec.invalid?.[place];
  if (exact) return exact;
  const general = place === 'params' ? 'route/not-found' : `${spec.feature}/invalid-${place}`;
  return isErrorCode(general) ? general : 'route/not-found';
}
