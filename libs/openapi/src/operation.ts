import {
  type ErrorCode,
  type Method,
  maxFileBytes,
  methodsOf,
  type OperationSpec,
  type ServerKeyUse,
  serverKeyMay,
  type Upload,
} from '@kith/contracts';
import { byStatus, codesOf, outside } from './codes.ts';
import { errorResponse, errorResponseName } from './errors.ts';
import type { Example } from './examples.ts';
import { headersOfSuccess } from './headers.ts';
import { tagOf } from './info.ts';
import { type JsonObject, ref } from './json.ts';
import { parametersOf } from './parameters.ts';
import type { Schemas } from './schemas.ts';
import { securityOf, takesServerKey } from './security.ts';

/** The data that an operation's description is made from. */
export interface Parts {
  schemas: Schemas;
  /** The answers that operations share, by name. An answer is added when it is first used. */
  responses: Map<string, JsonObject>;
  example: Example | undefined;
}

/** The path of an operation in the document: the v7 form for operations of a project (spec#addresses-form-v7). */
export function pathOf(operation: OperationSpec): string {
  const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
  return operation.scope === 'project' ? `/v7/{projectId}${path}` : path;
}

/** Describes an operation for one of its HTTP methods. */
export function describeOperation(operation: OperationSpec, method: Method, parts: Parts): JsonObject {
  const isFirst = methodsOf(operation)[0] === method;
  const parameters = parametersOf(operation, parts.schemas, parts.example);
  const body = bodyOf(operation, parts);
  return {
    operationId: isFirst ? operation.name : `${operation.name}.${method.toLowerCase()}`,
    summary: operation.summary,
    description: descriptionOf(operation),
    tags: [tagOf(operation)],
    security: securityOf(operation),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: responsesOf(operation, parts),
  };
}

const anyType = 'application/octet-stream';

/** Describes a form: the part with the bytes, and the other parts, which are texts. */
function formOf(
  { body, upload }: OperationSpec & { upload: Upload },
  { schemas, example }: Parts,
): JsonObject {
  const {
    properties = {},
    required = [],
    additionalProperties,
  } = schemas.of(body) as {
    properties?: JsonObject;
    required?: string[];
    additionalProperties?: false;
  };
  const last = upload.fileLast ? ' The last part of the form.' : '';
  const file = {
    type: 'string',
    contentMediaType: anyType,
    maxLength: upload.maxBytes,
    description: `At most ${upload.maxBytes / (1024 * 1024)} MiB.${last}`,
  };
  const schema = {
    type: 'object',
    // The bytes come last, because the other parts may decide what happens with them.
    properties: { ...properties, [upload.part]: file },
    required: [...required, upload.part],
    ...(additionalProperties === false && { additionalProperties }),
  };
  // In the schema, the bytes are a string. Without this `encoding`, tools would send the bytes as `text/plain`.
  const encoding = { [upload.part]: { contentType: (upload.types ?? [anyType]).join(', ') } };
  return {
    required: true,
    content: {
      'multipart/form-data': {
        schema,
        encoding,
        ...(example?.body === undefined ? {} : { example: example.body }),
      },
    },
  };
}

function bodyOf(operation: OperationSpec, parts: Parts): JsonObject | undefined {
  const { schemas, example } = parts;
  const { upload } = operation;
  if (upload) return formOf({ ...operation, upload }, parts);
  // An operator's operation refuses a key that the contract does not name; all other operations ignore it
  // (spec#requests-admin-unknown).
  const strict = operation.auth === 'operator' ? { additionalProperties: false } : {};
  const schema: JsonObject = { ...bodySchemaOf(operation, schemas), ...strict };
  if (Object.keys((schema.properties as object | undefined) ?? {}).length === 0) return undefined;
  return {
    // A missing body counts as an empty object (spec#requests-no-body).
    required: !operation.body.safeParse({}).success || schema.minProperties !== undefined,
    content: {
      'application/json': { schema, ...(example?.body === undefined ? {} : { example: example.body }) },
    },
  };
}

/** The schema of a body, with the fields that only a server key may set (spec#users-role-server-keys). */
function bodySchemaOf({ body, serverKeyBody }: OperationSpec, schemas: Schemas): JsonObject {
  if (!serverKeyBody) return schemas.of(body);
  const { properties: ofUsers } = schemas.of(body) as { properties: JsonObject };
  const { properties, ...rest } = schemas.of(serverKeyBody) as { properties: Record<string, JsonObject> };
  const description =
    'Only a server key that acts for no user may set this field. From all other callers, the field is ignored.';
  const described = Object.entries(properties).map(([name, schema]) => [
    name,
    Object.hasOwn(ofUsers, name) ? schema : { ...schema, description },
  ]);
  return { ...rest, properties: Object.fromEntries(described) };
}

function responsesOf(operation: OperationSpec, parts: Parts): JsonObject {
  const errors = byStatus(codesOf(operation)).map(([status, codes]) => [
    status,
    shared(status, codes, parts.responses),
  ]);
  return {
    [operation.status]: successOf(operation, parts),
    ...(operation.kind === 'download' && partial(operation)),
    ...Object.fromEntries(errors),
    default: namedResponse('Outside', 'default', outside, parts.responses),
  };
}

function successOf(operation: OperationSpec, { schemas, example }: Parts): JsonObject {
  const headers = headersOfSuccess(operation);
  if (operation.status === 204) return { description: 'Done.', headers };
  if (operation.kind === 'download') return { description: 'The bytes.', headers, content: bytes };
  if (operation.kind === 'stream')
    return { description: 'The stream.', headers, content: streamOf(operation, schemas) };
  return {
    description: operation.status === 201 ? 'Made.' : operation.status === 202 ? 'Begun.' : 'Done.',
    headers,
    content: {
      [operation.contentType?.split(';')[0] ?? 'application/json']: {
        schema: schemas.of(operation.output),
        ...(example?.answer === undefined ? {} : { example: example.answer }),
      },
    },
  };
}

const bytes = {
  [anyType]: {
    schema: {
      type: 'string',
      contentMediaType: anyType,
      maxLength: maxFileBytes,
      description: 'The `Content-Type` of the answer is the type that was recognised from the bytes.',
    },
  },
};

/** The answer 206 to a request for a part of the bytes, and the answer 304 to a request with a condition. */
function partial(operation: OperationSpec): JsonObject {
  const headers = headersOfSuccess(operation);
  return {
    206: { description: 'The part of the bytes that the request has asked for.', headers, content: bytes },
    304: { description: 'The client already has the stored version.', headers },
  };
}

function streamOf(operation: OperationSpec, schemas: Schemas): JsonObject {
  const schema = {
    description:
      '`notification` events have a notification in `data` and its feed sequence in `id`. `reset` says that some earlier events were not kept and are missing. `evicted` says that newer streams of the user have replaced this one. A comment is sent every 15 s.',
    contentMediaType: 'text/event-stream',
    contentSchema: schemas.of(operation.output),
  };
  const example = 'retry: 2000\n\nid: 17\n\n:\n\n';
  return { 'text/event-stream': { schema, example } };
}

function shared(status: string, codes: readonly ErrorCode[], responses: Map<string, JsonObject>): JsonObject {
  const name = errorResponseName(codes);
  return name ? namedResponse(name, status, codes, responses) : errorResponse(status, codes);
}

function namedResponse(
  name: string,
  status: string,
  codes: readonly ErrorCode[],
  responses: Map<string, JsonObject>,
): JsonObject {
  if (!responses.has(name)) responses.set(name, errorResponse(status, codes));
  return ref('responses', name);
}

const who: Readonly<Record<OperationSpec['auth'], string>> = {
  user: 'For signed-in users.',
  'server-key': 'For the application’s own back end, with its server key.',
  operator: 'For operators.',
  optional: 'For anyone. A valid token is used; any other token is ignored.',
  none: 'For anyone. Tokens are ignored.',
};

const byServerKey: Readonly<Record<ServerKeyUse, string | false>> = {
  itself: 'A server key may call this operation without a user, or act for the user in `On-Behalf-Of`.',
  'for-user': 'A server key may act for the user in `On-Behalf-Of`.',
  never: false,
};

function descriptionOf(operation: OperationSpec): string {
  const { auth, limit, shortForm, path, testOnly, operatorScope } = operation;
  const unlimited =
    auth === 'operator'
      ? 'Only failed authentication is limited, to 10 failures in 5 minutes.'
      : 'No rate limit.';
  const limited = limit ? `Limit: ${limit.max} requests in ${limit.windowSeconds / 60} minutes.` : unlimited;
  return [
    who[auth],
    auth === 'operator' &&
      (operatorScope
        ? `An operator key needs the scope \`${operatorScope}\`.`
        : 'Operator keys are refused; only `OPERATOR_TOKEN` is accepted.'),
    takesServerKey(operation) && byServerKey[serverKeyMay(operation)],
    limited,
    shortForm && `Also without a project id, at \`/v7${path}\`.`,
    testOnly && 'For tests: not available in production, unless the operator allows it.',
  ]
    .filter(Boolean)
    .join(' ');
}
