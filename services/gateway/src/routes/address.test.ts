import { getJwks, listConnections, operations, renameCollection } from '@kith/contracts';
import { describe, expect, it } from 'vitest';
import { projectIn, readAddress } from './address.ts';
import { RouteTable } from './routes.ts';

const routes = new RouteTable(operations);
const project = '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9';
const other = 'ffffffff-0000-0000-0000-000000000000';

const forms = [
  [`/api/v6/${project}`, 'v6', '/api/v6'],
  [`/v6/${project}`, 'v6', '/v6'],
  [`/v7/${project}`, 'v7', '/v7'],
  [`/api/v7/${project}`, 'v7', '/api/v7'],
  [`/${project}`, 'v6', ''],
  [`/${project}/v6`, 'v6', ''],
  [`/${project}/v7`, 'v7', ''],
  [`/${project}/api/v6`, 'v6', ''],
  [`/${project}/api/v7`, 'v7', ''],
  [`/api/v6/${project}/api/v7`, 'v6', '/api/v6'],
  [`/v7/${project}/v6`, 'v7', '/v7'],
  [`/v6/${project}/v7`, 'v6', '/v6'],
  [`/api/v7/${project}/api/v6`, 'v7', '/api/v7'],
] as const;

const endpoints = [
  ['POST', '/crypto/sign-testing-jwt', 'crypto.sign-testing-jwt', {}],
  ['PATCH', `/collections/${other}`, 'collections.rename', { collectionId: other }],
  ['GET', '/connections', 'connections.list', {}],
] as const;

describe('the forms of an address', () => {
  for (const [prefix, wireVersion, form] of forms) {
    for (const [method, path, name, params] of endpoints) {
      it(`${method} ${prefix}${path}`, () => {
        const expected = { kind: 'operation', wireVersion, form, projectId: project, params };
        const plain = readAddress(routes, method, `${prefix}${path}`);
        expect(plain).toMatchObject({ ...expected, query: '', operation: { name } });
        expect(readAddress(routes, method, `${prefix}${path}/`)).toEqual(plain);
        expect(readAddress(routes, method, `${prefix}${path}?a=1`)).toEqual({ ...plain, query: 'a=1' });
        expect(readAddress(routes, method, `http://x.test:80${prefix}${path}`)).toEqual(plain);
        const upper = `${prefix}${path}`
          .replace(project, project.toUpperCase())
          .replace(other, other.toUpperCase());
        expect(readAddress(routes, method, upper)).toEqual(plain);
      });
    }
  }
});

it('readAddress() keeps upper and lower case in an application’s own id, even if the id looks like a UUID', () => {
  const params = { collectionId: other, entityId: other.toUpperCase() };
  const path = `/v7/${project}/collections/${other.toUpperCase()}/entities/${params.entityId}`;
  expect(readAddress(routes, 'DELETE', path)).toMatchObject({ params });
});

describe('addresses without an operation', () => {
  const notFound = { kind: 'error', code: 'route/not-found' };
  const invalidProject = { kind: 'error', code: 'project/invalid-id' };
  it.each([
    ['/', notFound],
    ['//', notFound],
    ['*', notFound],
    ['', notFound],
    ['/api', notFound],
    ['/v7', notFound],
    ['/v7/', notFound],
    ['/v8/x/connections', notFound],
    [`/V7/${project}/connections`, notFound],
    [`/${project}`, notFound],
    [`/v7/${project}`, notFound],
    [`/v7/${project}/`, notFound],
    [`/v7/${project}/nothing`, notFound],
    [`/v7/${project}/connections//`, notFound],
    [`/v7/${project}//connections`, notFound],
    [`//v7/${project}/connections`, notFound],
    [`/${project}/v7/v7/connections`, notFound],
    [`/${project}/collections/`, notFound],
    ['/not-a-uuid/connections', notFound],
    [`/${project}x/connections`, notFound],
    ['/connections', notFound],
    ['/v7/users/1', notFound],
    ['/v7/blocks/1', notFound],
    ['/v7/v7/connections', invalidProject],
    ['/v7/not-a-uuid/connections', invalidProject],
    ['/api/v6/not-a-uuid', invalidProject],
    ['/v7/%zz/connections', invalidProject],
    ['/v7//connections', invalidProject],
    ['/v7/v6/connections', invalidProject],
    ['/v7/admin/projects', invalidProject],
  ])('GET %s', (target, expected) => {
    expect(readAddress(routes, 'GET', target)).toEqual(expected);
  });
});

describe('short forms (spec#short-forms)', () => {
  it.each([
    ['/v7/connections?page=2', 'connections.list', {}, 'v7', 'page=2'],
    ['/v6/connections/', 'connections.list', {}, 'v6', ''],
    [`/api/v6/users/${other}/connection`, 'connections.get-status', { userId: other }, 'v6', ''],
    ['/api/v7/blocks', 'connections.list-blocks', {}, 'v7', ''],
  ])('GET %s', (target, name, params, wireVersion, query) => {
    const address = readAddress(routes, 'GET', target);
    expect(address).toMatchObject({
      kind: 'operation',
      projectId: null,
      isShort: true,
      params,
      wireVersion,
      query,
    });
    expect(address.kind === 'operation' && address.operation.name).toBe(name);
  });
});

describe('methods', () => {
  const collection = `/${project}/collections/${other}`;
  it('routes HEAD like GET', () => {
    expect(readAddress(routes, 'HEAD', `/${project}/connections`)).toMatchObject({
      operation: listConnections,
    });
  });

  it.each([
    ['POST', `/${project}/connections`, 'GET, HEAD, OPTIONS'],
    ['TRACE', `/v7/${project}/connections/`, 'GET, HEAD, OPTIONS'],
    ['HEAD', collection, 'PATCH, DELETE, OPTIONS'],
    ['POST', `/${project}/collections/root`, 'GET, HEAD, PATCH, DELETE, OPTIONS'],
    ['POST', `/${project}/connections/${other}/accept`, 'PUT, PATCH, OPTIONS'],
    ['DELETE', '/admin/projects', 'GET, HEAD, POST, OPTIONS'],
  ])('%s %s is refused with Allow', (method, target, allow) => {
    expect(readAddress(routes, method, target)).toEqual({
      kind: 'error',
      code: 'route/method-not-allowed',
      allow,
    });
  });

  it('answers OPTIONS with the allowed methods', () => {
    expect(readAddress(routes, 'OPTIONS', collection)).toEqual({
      kind: 'options',
      allow: 'PATCH, DELETE, OPTIONS',
    });
    expect(readAddress(routes, 'OPTIONS', '*')).toMatchObject({ kind: 'options' });
    expect(readAddress(routes, 'OPTIONS', '/nothing')).toMatchObject({ code: 'route/not-found' });
  });

  it('routes PATCH and PUT to the same operation', () => {
    for (const method of ['PATCH', 'PUT']) {
      const address = readAddress(routes, method, `/${project}/connections/${other}/accept`);
      expect(address).toMatchObject({ operation: { name: 'connections.accept' } });
    }
  });
});

describe('segments and query', () => {
  const rename = (id: string) => readAddress(routes, 'PATCH', `/${project}/collections/${id}`);
  it('prefers a literal to a parameter, if the literal’s route takes the method', () => {
    const root = readAddress(routes, 'GET', `/${project}/collections/root`);
    expect(root).toMatchObject({ operation: { name: 'collections.get-root' }, params: {} });
    expect(rename('root')).toMatchObject({ operation: renameCollection, params: { collectionId: 'root' } });
  });

  it('decodes each segment separately', () => {
    expect(rename('a%2Fb')).toMatchObject({ params: { collectionId: 'a/b' } });
    expect(rename('%0d%0aX:%20y')).toMatchObject({ params: { collectionId: '\r\nX: y' } });
    expect(rename('%C3%A9')).toMatchObject({ params: { collectionId: 'é' } });
    const encoded = `/%${project.charCodeAt(0).toString(16)}${project.slice(1)}/%63onnections`;
    expect(readAddress(routes, 'GET', encoded)).toMatchObject({
      operation: listConnections,
      projectId: project,
    });
    expect(readAddress(routes, 'GET', `/api%2Fv7/${project}/connections`)).toMatchObject({
      code: 'route/not-found',
    });
  });

  it('leaves a segment as it is if it cannot be decoded', () => {
    expect(rename('%zz')).toMatchObject({ params: { collectionId: '%zz' } });
    expect(rename('%ff')).toMatchObject({ params: { collectionId: '%ff' } });
  });

  it.each([
    ['?page=1&limit=2', 'page=1&limit=2'],
    ['?', ''],
    ['?a=?b', 'a=?b'],
    ['?q=%zz', 'q=%zz'],
    ['?q=1#fragment', 'q=1'],
  ])('forwards the query %j as %j', (sent, query) => {
    expect(readAddress(routes, 'GET', `/${project}/connections${sent}`)).toMatchObject({ query });
  });

  it('finds operations without a project only under addresses without version and project', () => {
    expect(readAddress(routes, 'GET', '/.well-known/jwks.json')).toMatchObject({
      operation: getJwks,
      projectId: null,
      wireVersion: 'v6',
      form: '',
    });
    expect(readAddress(routes, 'GET', `/admin/projects/${other.toUpperCase()}`)).toMatchObject({
      projectId: null,
      params: { projectId: other },
    });
    expect(readAddress(routes, 'GET', `/${project}/.well-known/jwks.json`)).toMatchObject({
      code: 'route/not-found',
    });
  });
});

describe('the project in a target', () => {
  const prefixes = ['', '/v6', '/v7', '/api/v6', '/api/v7'];
  it.each(prefixes)('is found after the prefix "%s", no matter what follows the project', (prefix) => {
    for (const rest of ['', '/', '?x=/y', '/connections?page=1', '/api/v7/no/such/endpoint', '/%2F/..']) {
      expect(projectIn(`${prefix}/${project.toUpperCase()}${rest}`)).toBe(project);
    }
    expect(projectIn(`http://host:1${prefix}/${project}/connections`)).toBe(project);
  });

  it.each([
    '*',
    '',
    '/',
    '//',
    '/v7/connections',
    '/v7/users',
    '/admin/projects',
    `x/${project}`,
    '/%',
    '/v7',
  ])('is null for the target "%s"', (target) => {
    expect(projectIn(target)).toBeNull();
    expect(projectIn(`/admin/projects/${project}`)).toBeNull();
  });
});
