import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  closeFeed,
  type ErrorCode,
  errors,
  events,
  feedAfter,
  getProjectSettings,
  getRevocations,
  internalSubject,
  isErrorCode,
  methodsOf,
  type OperationSpec,
  openFeed,
  operations,
  rpcSubject,
  serviceOf,
  usersByIds,
} from '../src/index.ts';

const internal = [getRevocations, getProjectSettings, usersByIds, openFeed, feedAfter, closeFeed];
const codesOf = (spec: OperationSpec): string[] => [...spec.errors, ...Object.values(spec.invalid ?? {})];

test.each(operations.map((spec) => [spec.name, spec] as const))('%s has a complete contract', (_, spec) => {
  expect(spec.name).toMatch(/^[a-z]+\.[a-z]+(-[a-z0-9]+)*$/);
  expect(['crypto', 'identity', 'connections', 'collections', 'notifications', 'storage']).toContain(
    serviceOf(spec),
  );
  for (const code of codesOf(spec)) expect(isErrorCode(code)).toBe(true);
  for (const slug of ['server-error', 'invalid-body', 'invalid-query']) {
    expect(isErrorCode(`${spec.feature}/${slug}`)).toBe(true);
  }
  // The contract has a schema for each parameter of the path, so no handler gets an unchecked parameter.
  const named = [...spec.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  expect(Object.keys(spec.params.shape)).toEqual(named);
  if (named.length > 0) expect(isErrorCode(spec.invalid?.params ?? '')).toBe(true);
  expect(methodsOf(spec).length).toBeGreaterThan(0);
  if (methodsOf(spec).includes('GET'))
    expect(Object.keys((spec.body as unknown as { shape: object }).shape)).toEqual([]);
  if (spec.limit) {
    expect(spec.limit.max).toBeGreaterThan(0);
    expect(spec.limit.windowSeconds).toBe(300);
  }
});

/** Looks in a JSON Schema for object schemas that accept unknown keys, and returns their paths. */
function lenientIn(schema: unknown, path = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, additionalProperties } = schema as Record<string, unknown>;
  const isLenient = properties !== undefined && additionalProperties !== false;
  const inside = Object.entries(schema).flatMap(([key, value]) => lenientIn(value, `${path}/${key}`));
  return isLenient ? [path, ...inside] : inside;
}

test.each(operations.filter(({ auth }) => auth === 'operator').map((spec) => [spec.name, spec] as const))(
  '%s drops no unknown key inside its body (spec#requests-admin-unknown)',
  (_, spec) => {
    // The outermost object is left out, because its unknown keys are refused in the same way for all operators' operations.
    const inside = lenientIn(z.toJSONSchema(spec.body, { io: 'input' })).filter((path) => path !== '');
    expect(inside).toEqual([]);
  },
);

test('no two operations share method and path', () => {
  const taken = operations.flatMap((spec) =>
    methodsOf(spec).map((method) => `${method} ${spec.scope} ${spec.path.replaceAll(/:\w+/g, ':')}`),
  );
  expect(new Set(taken).size).toBe(taken.length);
});

test('an export lists the codes of all its sections, and its document has every section', () => {
  const exports = operations.filter(({ kind }) => kind === 'export');
  expect(exports.map(({ name }) => name)).toEqual(['identity.export-user']);
  for (const { parts, output, errors: codes } of exports) {
    for (const { feature } of Object.values(parts?.sections ?? {})) {
      expect(codes).toContain(`${feature}/server-error`);
    }
    const named = Object.keys((output as unknown as { shape: object }).shape);
    expect(named).toEqual([...Object.keys(parts?.head.shape ?? {}), ...Object.keys(parts?.sections ?? {})]);
  }
});

test('every operation has its own subject, which is a valid NATS subject', () => {
  const subjects = [
    ...operations.map((spec) => rpcSubject('kith', spec)),
    ...internal.map((spec) => internalSubject('kith', spec)),
  ];
  expect(new Set(subjects).size).toBe(subjects.length);
  for (const subject of subjects) expect(subject).toMatch(/^kith\.(rpc|svc)\.[a-z]+\.[a-z0-9-]+$/);
});

test('the core operations are as spec#conventions-core says', () => {
  const rows = operations
    .filter(({ name }) =>
      ['crypto.sign-testing-jwt', 'collections.rename', 'connections.list'].includes(name),
    )
    .map(({ method, path, auth, limit, status }) => [method, path, auth, limit?.max, status]);
  expect(rows).toEqual([
    ['POST', '/crypto/sign-testing-jwt', 'none', 100, 200],
    ['GET', '/connections', 'user', 100, 200],
    ['PATCH', '/collections/:collectionId', 'user', 100, 200],
  ]);
});

test('only the operations that sign test tokens are test-only', () => {
  expect(operations.filter(({ testOnly }) => testOnly).map(({ name }) => name)).toEqual([
    'crypto.sign-testing-jwt',
    'crypto.sign-testing-jwt-v2',
  ]);
});

test('internal operations list codes that exist', () => {
  for (const spec of internal) {
    for (const code of spec.errors as readonly string[]) expect(isErrorCode(code)).toBe(true);
    expect(isErrorCode(`${spec.feature}/server-error`)).toBe(true);
  }
});

test.each(Object.keys(errors) as ErrorCode[])(
  '%s has a form and a status that spec#errors allows',
  (code) => {
    const duplicate = /^DUPLICATE_[A-Z]+$/.test(code);
    expect(duplicate || /^[a-z]+(-[a-z]+)*\/[a-z]+(-[a-z]+)*$/.test(code)).toBe(true);
    const { status, message } = errors[code];
    expect([
      400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 416, 417, 422, 429, 431, 500, 503, 504,
    ]).toContain(status);
    if (duplicate) expect(status).toBe(409);
    if (code.endsWith('/server-error')) expect(status).toBe(500);
    const others = [
      'auth/invalid-credentials',
      'auth/invalid-token',
      'auth/invalid-second-factor',
      'storage/invalid-range',
    ];
    if (code.includes('/invalid-') && !others.includes(code)) expect(status).toBe(400);
    expect(message).toMatch(/^[A-Z].*\.$/);
  },
);

test('each event type is unique, and consists of a feature, a dot and a name', () => {
  const types = events.map(({ type }) => type);
  expect(new Set(types).size).toBe(types.length);
  for (const type of types) expect(type).toMatch(/^[a-z]+\.[a-z]+(-[a-z0-9]+)*$/);
});
