import { readFileSync } from 'node:fs';
import { documentFile } from '@kith/openapi';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export type Schema = Record<string, unknown>;

/** The place of a parameter in a request. */
export type Place = 'path' | 'query' | 'header' | 'cookie';

export interface Parameter {
  name: string;
  in: Place;
  required?: boolean;
  schema: Schema;
}

export interface RequestBody {
  type: 'application/json' | 'multipart/form-data';
  required: boolean;
  schema: Schema;
}

interface Response {
  content?: Record<string, unknown>;
}

/** An operation as the document describes it, with references resolved. */
export interface Described {
  id: string;
  method: string;
  path: string;
  parameters: readonly Parameter[];
  body: RequestBody | undefined;
  /** The names of the security schemes that a caller may use. `none` means that a caller needs no token. */
  security: readonly string[];
  /** The check of each answer, by status and then by media type. */
  answers: ReadonlyMap<string, ReadonlyMap<string, ValidateFunction>>;
}

interface Operation {
  operationId: string;
  parameters?: object[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  security: Record<string, unknown>[];
  responses: Record<string, object>;
}

const document = JSON.parse(readFileSync(documentFile, 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};
const ajv = new Ajv2020({ strict: false, allErrors: false });
addFormats.default(ajv);
for (const name of ['int32', 'int64', 'password']) ajv.addFormat(name, true);
// Both ajv and the contracts check `date-time` by RFC 3339. A leap second is allowed only in the last minute of a day.
ajv.addSchema(document, 'document');

/** All operations of the document. */
export const described: readonly Described[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => describe(path, method, operation)),
);

/** Whether a value conforms to the schema of a request. */
export function conforms(schema: Schema, value: unknown): boolean {
  let check = checks.get(schema);
  if (!check) {
    check = ajv.compile(schema);
    checks.set(schema, check);
  }
  return check(value);
}
const checks = new WeakMap<Schema, ValidateFunction>();

function describe(path: string, method: string, operation: Operation): Described {
  const { operationId: id, parameters = [], requestBody, security, responses } = operation;
  const [body] = Object.entries(requestBody?.content ?? {});
  return {
    id,
    method: method.toUpperCase(),
    path,
    parameters: parameters.map((one) => lookUp<Parameter>(one).value),
    body: body && {
      type: body[0] as RequestBody['type'],
      required: requestBody?.required ?? false,
      schema: body[1].schema,
    },
    security: security.map((one) => Object.keys(one)[0] ?? 'none'),
    answers: new Map(
      Object.entries(responses).map(([status, response]) => {
        const from = `#/paths/${escaped(path)}/${method}/responses/${status}`;
        const { value, at } = lookUp<Response>(response, from);
        const types = Object.keys(value.content ?? {}).map((type): [string, ValidateFunction] => [
          type,
          ajv.compile({ $ref: `document${at}/content/${escaped(type)}/schema` }),
        ]);
        return [status, new Map(types)];
      }),
    ),
  };
}

/**
 * Resolves a reference: returns the value that it names, and the place of this value in the document. A value that is no
 * reference is returned as it is, with `at` as its place.
 */
function lookUp<T>(value: object, at = ''): { value: T; at: string } {
  if (!('$ref' in value)) return { value: value as T, at };
  const path = value.$ref as string;
  const keys = path.slice(2).split('/');
  const found = keys.reduce<unknown>((part, key) => (part as Schema)[key], document);
  return { value: found as T, at: path };
}

/** The key of a member, escaped for a JSON pointer (RFC 6901) in the fragment of a URI. */
function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}
