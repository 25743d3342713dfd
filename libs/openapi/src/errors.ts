import { type ErrorCode, errorBody, errors, problemOf } from '@kith/contracts';
import { headersOfError } from './headers.ts';
import { type JsonObject, pascalCase, ref } from './json.ts';

const sentence = { type: 'string', maxLength: 1000 };
const shared = {
  error: { ...sentence, description: 'What went wrong, and what to send instead.' },
  code: ref('schemas', 'ErrorCode'),
  field: { type: 'string', maxLength: 200, description: 'The name of the wrong input.' },
  errors: {
    type: 'array',
    maxItems: 100,
    description:
      'If several inputs are wrong, all of them, in the order in which the contract lists them. `field` is the first of them.',
    items: {
      type: 'object',
      properties: { field: { type: 'string', maxLength: 200 }, error: sentence },
      required: ['field', 'error'],
    },
  },
  details: {
    type: 'string',
    maxLength: 1000,
    description: 'Only for `crypto/server-error`: why the token could not be signed.',
  },
};

/** The schemas of errors. */
export const errorSchemas: Readonly<Record<string, JsonObject>> = {
  ErrorCode: { type: 'string', enum: Object.keys(errors), description: 'The kind of error, for programs.' },
  Error: {
    type: 'object',
    description: 'The body of every answer whose status is neither 2xx nor 304.',
    properties: shared,
    required: ['error', 'code'],
  },
  Problem: {
    type: 'object',
    description: 'An error as a problem (RFC 9457).',
    properties: {
      type: {
        type: 'string',
        format: 'uri-reference',
        maxLength: 200,
        description: 'Where the code is described.',
      },
      title: { ...sentence, description: 'What went wrong. For one code, the text is always the same.' },
      status: { type: 'integer', format: 'int32', minimum: 400, maximum: 599 },
      detail: { ...sentence, description: 'The same as `error`.' },
      ...shared,
    },
    required: ['type', 'title', 'status', 'detail', 'error', 'code'],
  },
};

/** Describes the error answers with one status, and all the codes that they may have. */
export function errorResponse(status: string, codes: readonly ErrorCode[]): JsonObject {
  const only = { properties: { code: { type: 'string', enum: codes } } };
  const of = (name: string) => ({ allOf: [ref('schemas', name), only] });
  const examples = codes.map((code) => [exampleName(code), { value: errorBody(code) }]);
  const [first] = codes;
  const problem = first && problemOf(errorBody(first), errors[first].status);
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code].message}`).join('\n\n'),
    headers: headersOfError(status),
    content: {
      'application/json': { schema: of('Error'), examples: Object.fromEntries(examples) },
      'application/problem+json': { schema: of('Problem'), example: problem },
    },
  };
}

/**
 * The name under which operations share the answer with these codes. Undefined for more than three codes, because the name
 * would be too long.
 */
export function errorResponseName(codes: readonly ErrorCode[]): string | undefined {
  return codes.length <= 3 ? codes.map(pascalCase).join('Or') : undefined;
}

/** The name of an error code's example. Some tools use these names as keys of components, which must not contain a slash. */
function exampleName(code: ErrorCode): string {
  return code.replace('/', '.');
}
