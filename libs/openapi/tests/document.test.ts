import { readFileSync } from 'node:fs';
import {
  type ErrorCode,
  errors,
  methodsOf,
  type OperationSpec,
  operation,
  operations,
  serverKeyMay,
  statusOf,
  updateUser,
} from '@kith/contracts';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { buildDocument, codesOf, documentFile, outside, readExamples, writeDocument } from '../src/index.ts';

interface Media {
  schema: Record<string, unknown>;
  example?: unknown;
  examples?: Record<string, { value: { code: string } }>;
}
interface Response {
  $ref?: string;
  headers: Record<string, unknown>;
  content?: Record<string, Media>;
}
interface Described {
  operationId: string;
  summary: string;
  security: Record<string, unknown>[];
  parameters?: Record<string, unknown>[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Response>;
}

const document = buildDocument(operations, readExamples());
const paths = document.paths as Record<string, Record<string, Described>>;
const each = operations.map((spec) => [spec.name, spec] as const);
const nothingTaken: Record<string, unknown> = {};

/** Looks up a `$ref`; returns other values as they are. */
function resolve<T>(value: T & { $ref?: string }): T {
  if (value.$ref === undefined) return value;
  const keys = value.$ref.slice(2).split('/');
  return keys.reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], document) as T;
}

function describedAs(spec: OperationSpec): Described[] {
  const prefix = spec.scope === 'project' ? '/v7/{projectId}' : '';
  const path = paths[prefix + spec.path.replaceAll(/:(\w+)/g, '{$1}')] ?? nothingTaken;
  return methodsOf(spec).map((method) => path[method.toLowerCase()] as Described);
}

/** The error codes in the answers of a described operation, by status. */
function codesBy({ responses }: Described): [status: string, codes: string[]][] {
  return Object.entries(responses).map(([status, response]) => {
    const media = resolve(response).content?.['application/json'];
    return [status, Object.values(media?.examples ?? {}).map(({ value }) => value.code)];
  });
}

test('the committed document is the same as the document that is made from the contracts', () => {
  // The texts are compared with `===`, because a failing `toBe` would print a useless diff of two very long texts. To bring the
  // committed document up to date, run tools/openapi.ts.
  expect(readFileSync(documentFile, 'utf8') === writeDocument()).toBe(true);
});

test('the document has the version of the packages, and no example of a project id', () => {
  const root = new URL('../../../package.json', import.meta.url);
  expect(document.info).toMatchObject({ version: JSON.parse(readFileSync(root, 'utf8')).version });
  const { parameters } = document.components as { parameters: Record<string, object> };
  expect(parameters.ProjectId).toMatchObject({ name: 'projectId' });
  for (const key of ['example', 'examples', 'schema.example', 'schema.default']) {
    expect(parameters.ProjectId).not.toHaveProperty(key);
  }
});

test('every reference has a target, and every component is referenced', () => {
  const text = JSON.stringify(document);
  const refs = new Set([...text.matchAll(/"\$ref":"#\/components\/(\w+\/[^"]+)"/g)].map(([, to]) => to));
  expect([...text.matchAll(/"\$ref":/g)].length).toBe([...text.matchAll(/"\$ref":"#\/components\//g)].length);
  const components = document.components as Record<string, Record<string, unknown>>;
  const { securitySchemes: _, ...others } = components;
  const there = Object.entries(others).flatMap(([kind, named]) =>
    Object.keys(named).map((name) => `${kind}/${name}`),
  );
  expect([...refs].toSorted()).toEqual(there.toSorted());
});

test('every error code is in an answer of an operation, or is about an input that no operation of its feature has', () => {
  const said = new Set([...operations.flatMap(codesOf), ...outside]);
  // A code for an invalid body is in no answer if no operation of its feature has a body. The same is true for queries.
  const never = (Object.keys(errors) as ErrorCode[]).filter((code) => !said.has(code));
  expect(never.every((code) => /\/invalid-(body|query)$/.test(code))).toBe(true);
  const schemas = (document.components as { schemas: Record<string, { enum?: string[] }> }).schemas;
  expect(schemas.ErrorCode?.enum).toEqual(Object.keys(errors));
});

test('the description of a download has the headers for byte ranges and for conditional requests', () => {
  const ofBytes = [
    'Range',
    'If-Range',
    'If-Match',
    'If-None-Match',
    'If-Modified-Since',
    'If-Unmodified-Since',
  ];
  for (const spec of operations) {
    for (const { parameters = [] } of describedAs(spec)) {
      const names = parameters.map((one) => resolve(one).name as string);
      expect(names.filter((one) => ofBytes.includes(one))).toEqual(spec.kind === 'download' ? ofBytes : []);
    }
  }
});

describe.each(each)('%s', (name, spec) => {
  it('an operation is described under each of its methods, with its own id', () => {
    const described = describedAs(spec);
    expect(described.map(({ operationId }) => operationId)[0]).toBe(name);
    for (const one of described) expect(one.summary).toBe(spec.summary);
    const ids = Object.values(paths).flatMap((path) => Object.values(path).map((one) => one.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('an operation lists the error codes of its contract and of the layers before it, each under its status', () => {
    const wanted: string[] = [...spec.errors, ...Object.values(spec.invalid ?? {})];
    wanted.push(
      `${spec.feature}/server-error`,
      'gateway/unavailable',
      'gateway/timeout',
      'gateway/server-error',
    );
    if (spec.limit || spec.auth === 'operator') wanted.push('rate-limit/exceeded');
    if (spec.auth === 'user') wanted.push('auth/unauthorized', 'auth/forbidden', 'auth/suspended');
    if (spec.auth === 'optional') wanted.push('auth/forbidden');
    if (spec.auth === 'operator') wanted.push('auth/unauthorized', 'auth/forbidden');
    if (spec.upload) wanted.push('request/invalid-multipart', spec.upload.tooLarge);
    else if (!methodsOf(spec).includes('GET')) wanted.push('request/invalid-json', 'request/too-large');
    for (const described of describedAs(spec)) {
      const groups = codesBy(described);
      expect(groups.flatMap(([, codes]) => codes)).toEqual(expect.arrayContaining(wanted));
      for (const [status, codes] of groups.filter(([status]) => status !== 'default')) {
        for (const code of codes) expect(String(statusOf(code as ErrorCode))).toBe(status);
      }
    }
  });

  it('an operation has the headers of its answers, and errors as `application/json` and `application/problem+json`', () => {
    for (const { responses } of describedAs(spec)) {
      for (const [status, given] of Object.entries(responses)) {
        const { headers, content = {} } = resolve(given);
        expect(Object.keys(headers)).toContain('X-Request-Id');
        if (status === '401') expect(headers).toHaveProperty('WWW-Authenticate');
        if (status === '429' || status === '503') expect(headers).toHaveProperty('Retry-After');
        if (Number(status) === spec.status || (spec.kind === 'download' && Number(status) < 400)) {
          expect('RateLimit' in headers).toBe(spec.limit !== null);
          expect('Link' in headers).toBe('cursor' in spec.query.shape);
        } else expect(Object.keys(content)).toEqual(['application/json', 'application/problem+json']);
      }
    }
  });

  it('an operation asks for the token that it needs', () => {
    const ofKey = serverKeyMay(spec) === 'never' ? [] : [{ serverKey: [] }];
    const wanted = {
      user: [{ userToken: [] }, ...ofKey],
      'server-key': [{ serverKey: [] }],
      operator: [{ operatorToken: [] }],
      optional: [{ userToken: [] }, ...ofKey, {}],
      none: [{}],
    };
    for (const { security, parameters = [] } of describedAs(spec)) {
      expect(security).toEqual(wanted[spec.auth]);
      const names = parameters.map((one) => resolve(one).name);
      // An operation that only server keys may call has no `On-Behalf-Of`, because a key acts for no user there
      // (spec#server-keys-on-behalf).
      const isOnBehalf = ofKey.length > 0 && spec.auth !== 'server-key';
      expect(names.includes('On-Behalf-Of')).toBe(isOnBehalf);
    }
  });

  it('an operation has the parameters and the body of its contract', () => {
    for (const { parameters = [], requestBody } of describedAs(spec)) {
      const given = parameters.map((one) => resolve(one)).filter((one) => one.in !== 'header');
      const project = spec.scope === 'project' ? ['projectId'] : [];
      const wanted = [...project, ...Object.keys(spec.params.shape), ...Object.keys(spec.query.shape)];
      expect(given.map((one) => one.name)).toEqual(wanted);
      for (const { name: key, in: place, required } of given) {
        if (place === 'query') {
          const field = (spec.query.shape as Record<string, z.ZodType>)[String(key)];
          expect(required).toBe(!field?.safeParse(undefined).success);
        }
      }
      const properties = Object.keys((spec.serverKeyBody ?? (spec.body as unknown as z.ZodObject)).shape);
      const type = spec.upload ? 'multipart/form-data' : 'application/json';
      const schema = requestBody?.content[type]?.schema ?? {};
      const file = spec.upload ? [spec.upload.part] : [];
      expect(Object.keys((schema.properties as object | undefined) ?? {})).toEqual([...properties, ...file]);
    }
  });

  it('an operation shows an example that its contract accepts', () => {
    if (spec.kind === 'stream')
      return expect(describedAs(spec)[0]?.responses['200']?.content).toHaveProperty([
        'text/event-stream',
        'example',
      ]);
    const example = readExamples()[name];
    expect(example).toBeDefined();
    // In the example, the body also holds the bytes of the upload. The contract has no field for these bytes, so they are left
    // out of the check.
    const { [spec.upload?.part ?? '']: _, ...body } = (example?.body ?? {}) as Record<string, unknown>;
    for (const part of ['params', 'query', 'body'] as const) {
      const parsed = spec[part].safeParse(part === 'body' ? body : (example?.[part] ?? {}));
      expect(parsed.error?.issues ?? []).toEqual([]);
    }
    if (spec.status !== 204) expect(spec.output.safeParse(example?.answer).error?.issues ?? []).toEqual([]);
    const { requestBody, responses } = describedAs(spec)[0] as Described;
    const type = spec.upload ? 'multipart/form-data' : 'application/json';
    if (requestBody) expect(requestBody.content[type]?.example).toEqual(example?.body);
    const shown = Object.values(responses[spec.status]?.content ?? {}).map((media) => media.example);
    expect(shown).toEqual(spec.status === 204 ? [] : [example?.answer]);
  });
});

test('the document says which fields only a server key may set', () => {
  const [{ security, requestBody }] = describedAs(updateUser) as [Described];
  expect(security).toEqual([{ userToken: [] }, { serverKey: [] }]);
  const schema = requestBody?.content['application/json']?.schema ?? {};
  const properties = schema.properties as Record<string, { type: string; description?: string }>;
  const description = expect.stringMatching(/^Only a server key .* may set this field\./);
  expect(properties.role).toMatchObject({ type: 'string', minLength: 1, maxLength: 64, description });
  expect(properties.reputation).toMatchObject({ type: 'number', description });
  expect(properties.bio?.description).toBeUndefined();
});

test('a new operation appears in the document as soon as its contract is in the list', () => {
  const spec = operation({
    name: 'collections.colour',
    summary: 'Colour a collection',
    feature: 'collection',
    method: ['PUT', 'PATCH'],
    path: '/collections/:collectionId/colour',
    scope: 'project',
    auth: 'user',
    limit: { max: 10, windowSeconds: 300 },
    params: z.object({ collectionId: z.guid() }),
    query: z.object({ shade: z.enum(['light', 'dark']).default('light') }),
    body: z.object({ colour: z.string().max(20) }),
    output: z.object({ colour: z.string().max(20) }),
    status: 200,
    errors: ['collection/not-found', 'DUPLICATE_EMAIL'],
    invalid: { params: 'collection/not-found' },
  });
  const made = buildDocument([spec], {}).paths as typeof paths;
  const { put, patch } = made['/v7/{projectId}/collections/{collectionId}/colour'] ?? {};
  expect([put?.operationId, patch?.operationId]).toEqual(['collections.colour', 'collections.colour.patch']);
  expect(Object.keys(put?.responses ?? {}).toSorted()).toEqual(
    [
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
      '504',
      'default',
    ].toSorted(),
  );
  expect(put?.parameters?.[2]).toMatchObject({
    name: 'shade',
    required: false,
    schema: { default: 'light' },
  });
  expect(put?.requestBody?.content['application/json']?.schema).toMatchObject({ required: ['colour'] });
});

test('a zod rule that JSON Schema cannot express is an error, and does not become a schema that allows any value', () => {
  const [first] = operations as [OperationSpec];
  const spec = { ...first, output: z.object({ at: z.date() }) };
  expect(() => buildDocument([spec], {})).toThrow(/Date/);
});
