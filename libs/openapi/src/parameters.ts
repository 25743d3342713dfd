import { type OperationSpec, takesKey } from '@kith/contracts';
import type { z } from 'zod';
import type { Example } from './examples.ts';
import { type JsonObject, ref } from './json.ts';
import type { Schemas } from './schemas.ts';
import { takesServerKey } from './security.ts';

/** A header with a condition (RFC 9110 section 13.1). No value is refused as malformed, so the schema allows any text. */
function condition(name: string, description: string, example?: string): JsonObject {
  const schema = { type: 'string', maxLength: 2048, pattern: '^[\\x20-\\x7e]*$' };
  return { name, in: 'header', description, schema, ...(example === undefined ? {} : { example }) };
}

/**
 * The headers of a download, by their names in `parameters`. They say which bytes the client wants, and on which conditions.
 */
const ofDownloads = ['Range', 'IfRange', 'IfMatch', 'IfNoneMatch', 'IfModifiedSince', 'IfUnmodifiedSince'];

/** Parameters that operations share. */
export const parameters: Readonly<Record<string, JsonObject>> = {
  ProjectId: {
    name: 'projectId',
    in: 'path',
    required: true,
    description: 'The id of the project. Upper and lower case make no difference.',
    // This parameter has no example. Tools would use the example, and send every request for a project that does not exist.
    schema: { type: 'string', format: 'uuid', maxLength: 36 },
  },
  Range: {
    name: 'Range',
    in: 'header',
    description: 'The part of the bytes that the client asks for (RFC 9110 section 14).',
    schema: { type: 'string', maxLength: 100, pattern: '^bytes=(\\d+-\\d*|-\\d+)$' },
    example: 'bytes=0-1023',
  },
  IfRange: condition(
    'If-Range',
    'The `ETag` or the `Last-Modified` of the client’s version. If the stored version is another one, `Range` is ignored.',
    '"d2hhdCBpdCBpcw"',
  ),
  // `If-Match` and `If-Unmodified-Since` have no example, because tools would send the example, and every answer would be 412.
  IfMatch: condition(
    'If-Match',
    'The `ETag` of the client’s version, or a list of such tags. If the stored version has none of these tags, the answer is 412.',
  ),
  IfNoneMatch: condition(
    'If-None-Match',
    'The `ETag` of the client’s version. If the stored version is the same, the answer is 304.',
    '"d2hhdCBpdCBpcw"',
  ),
  IfModifiedSince: condition(
    'If-Modified-Since',
    'The `Last-Modified` of the client’s version. If the stored version is no later, the answer is 304. Ignored if there is an `If-None-Match`.',
    'Mon, 23 Nov 2026 12:00:00 GMT',
  ),
  IfUnmodifiedSince: condition(
    'If-Unmodified-Since',
    'The `Last-Modified` of the client’s version. If the stored version is later, the answer is 412. Ignored if there is an `If-Match`.',
  ),
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A new random text for each request, with or without quotes. If a request has changed something and is repeated with the same key within 24 hours, it gets the same answer and changes nothing.',
    schema: {
      type: 'string',
      // In a key with quotes, a backslash precedes each quote and each backslash (RFC 9651 section 3.3.3).
      pattern: '^("([\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\["\\\\]){1,255}"|[\\x21\\x23-\\x7e]{1,255})$',
      maxLength: 512,
    },
    example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
  },
  OnBehalfOf: {
    name: 'On-Behalf-Of',
    in: 'header',
    description:
      'Only with a server key: the id of the user for whom the key acts. The user must belong to the key’s project and must not be suspended.',
    // This parameter has no example, because tools would send the example together with a user's token, and only a server key
    // may send this header.
    schema: { type: 'string', format: 'uuid', maxLength: 36 },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The `id` of the last event that was received. The stream continues after it.',
    schema: { type: 'string', pattern: '^\\d{1,15}$', maxLength: 15 },
    example: '17',
  },
};

/**
 * The parameters of an operation: first the parameters of the path, then those of the query, then the headers. Within each
 * group, they are in the order in which the contract lists them.
 */
export function parametersOf(
  operation: OperationSpec,
  schemas: Schemas,
  example: Example | undefined,
): JsonObject[] {
  const shape = (part: z.ZodObject) => Object.entries(part.shape as Record<string, z.ZodType>);
  return [
    ...(operation.scope === 'project' ? [ref('parameters', 'ProjectId')] : []),
    ...shape(operation.params).map(([name, schema]) => ({
      name,
      in: 'path',
      required: true,
      ...schemaAndExample(schemas.of(schema), example?.params?.[name]),
    })),
    ...shape(operation.query).map(([name, schema]) => {
      const absent = schema.safeParse(undefined);
      const preset = absent.data === undefined ? {} : { default: absent.data };
      const given = example?.query?.[name];
      const value = schemaAndExample({ ...schemas.of(schema), ...preset }, given);
      return { name, in: 'query', required: !absent.success, ...value };
    }),
    ...(takesServerKey(operation) ? [ref('parameters', 'OnBehalfOf')] : []),
    ...(takesKey(operation) ? [ref('parameters', 'IdempotencyKey')] : []),
    ...(operation.kind === 'stream' ? [ref('parameters', 'LastEventId')] : []),
    ...(operation.kind === 'download' ? ofDownloads.map((name) => ref('parameters', name)) : []),
  ];
}

/** Moves the description from the schema to the parameter, where tools show it. */
function schemaAndExample({ description, ...schema }: JsonObject, example: unknown): JsonObject {
  const isNumber = schema.type === 'integer' && example !== undefined;
  return {
    ...(description === undefined ? {} : { description }),
    schema,
    ...(example === undefined ? {} : { example: isNumber ? Number(example) : example }),
  };
}
