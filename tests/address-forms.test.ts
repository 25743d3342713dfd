import { availableEngines, sharedPlatform, type TestPlatform, type TestUser } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, http } from './support/http.ts';
import { privateKey } from './support/keys.ts';

// Tests every row of spec#addresses-forms. Each address consists of an outer version, the project id and an inner version. Each
// address is sent with and without a slash at its end, and with the project id in upper and lower case.
const outers = ['', '/v6', '/v7', '/api/v6', '/api/v7'];
const inners = ['', '/v6', '/v7', '/api/v6', '/api/v7'];
const forms = outers.flatMap((outer) =>
  inners.flatMap((inner) =>
    ['', '/'].flatMap((slash) =>
      ['lower', 'UPPER'].map((letters) => ({
        outer,
        form: `${outer}/:projectId${inner}…${slash} (${letters})`,
        address: (projectId: string, endpoint: string) => {
          const id = letters === 'UPPER' ? projectId.toUpperCase() : projectId;
          const [path, query] = endpoint.split('?');
          return `${outer}/${id}${inner}${path}${slash}${query ? `?${query}` : ''}`;
        },
      })),
    ),
  ),
);

describe.each(availableEngines())('address forms (%s)', (engine) => {
  let platform: TestPlatform;
  let ada: TestUser;
  let grace: TestUser;
  let collectionId: string;
  let connectionId: string;
  const key = privateKey();

  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    const { id } = await platform.createProject();
    ada = await platform.createUser(id, { name: 'Ada' });
    grace = await platform.createUser(id, { name: 'Grace' });
    connectionId = await platform.connect(ada, grace);
    collectionId = (await platform.createCollection(ada, 'Folder')).id;
  });
  afterAll(() => platform?.stop());

  const send = (ask: Ask) => http(platform.url, ask);

  // The gateway reads addresses in the same way in the embedded form and with real engines. So with real engines, calling one
  // endpoint with all addresses is enough. The tests that call other endpoints with all addresses run only in the embedded
  // form.
  const embeddedForms = engine === 'embedded' ? forms : [];

  it.each(embeddedForms)('$form reaches sign-testing-jwt', async ({ address }) => {
    const answer = await send({
      method: 'POST',
      path: address(ada.projectId, '/crypto/sign-testing-jwt'),
      body: { projectId: 'p', privateKey: key, payload: { id: 'u' } },
    });
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) });
  });

  it.each(embeddedForms)('$form reaches rename', async ({ address, form }) => {
    const answer = await send({
      method: 'PATCH',
      path: address(ada.projectId, `/collections/${collectionId}`),
      token: ada.accessToken,
      body: { name: form },
    });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ id: collectionId, name: form });
  });

  it.each(forms)('$form reaches the operation that lists connections', async ({ address }) => {
    const answer = await send({
      path: address(ada.projectId, '/connections?page=1&limit=20'),
      token: ada.accessToken,
    });
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      connections: [
        expect.objectContaining({
          id: connectionId,
          connectedUser: expect.objectContaining({ id: grace.id }),
        }),
      ],
      pagination: {
        currentPage: 1,
        totalPages: 1,
        totalCount: 1,
        hasNextPage: false,
        hasPreviousPage: false,
        limit: 20,
      },
    });
  });

  const endpoints = ['/crypto/sign-testing-jwt', '/collections/x', '/connections'];
  const notFound = { error: 'No such endpoint.', code: 'route/not-found' };
  const invalidId = { error: 'The project id is not a UUID.', code: 'project/invalid-id' };

  it.each(outers.slice(1).flatMap((outer) => endpoints.map((endpoint) => `${outer}/not-a-uuid${endpoint}`)))(
    '%s: a project id that is no UUID is refused',
    async (path) => {
      const answer = await send({ path });
      expect([answer.status, answer.json(), answer.headers['content-type']]).toEqual([
        400,
        invalidId,
        'application/json',
      ]);
    },
  );

  it.each([
    ...endpoints.map((endpoint) => `/not-a-uuid${endpoint}`),
    '/',
    '/v7',
    '/api',
    '/v8/PROJECT/connections',
    '/PROJECT',
    '/PROJECT/v7/v7/connections',
    '/PROJECT/connections//',
    '/PROJECT//connections',
    '/PROJECT/Connections',
    '/PROJECT/api/connections',
    '/PROJECT/connections/x/y/z',
  ])('%s is not an endpoint', async (path) => {
    const answer = await send({ path: path.replace('PROJECT', ada.projectId) });
    expect([answer.status, answer.json(), answer.headers['content-type']]).toEqual([
      404,
      notFound,
      'application/json',
    ]);
  });

  it.each([
    ['PUT', '/crypto/sign-testing-jwt', 'POST, OPTIONS'],
    ['DELETE', '/connections', 'GET, HEAD, OPTIONS'],
    ['POST', '/connections', 'GET, HEAD, OPTIONS'],
  ])('%s %s answers 405 with an Allow header', async (method, endpoint, allow) => {
    for (const outer of outers) {
      const answer = await send({ method, path: `${outer}/${ada.projectId}${endpoint}` });
      expect(answer.status).toBe(405);
      expect(answer.json()).toEqual({
        error: 'This endpoint does not take that method.',
        code: 'route/method-not-allowed',
      });
      expect(answer.headers.allow?.split(', ').sort()).toEqual(allow.split(', ').sort());
    }
  });

  it('HEAD gets the answer of GET without the body', async () => {
    const path = `/v7/${ada.projectId}/connections`;
    const get = await send({ path, token: ada.accessToken });
    const head = await send({ method: 'HEAD', path, token: ada.accessToken });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.text)));
  });

  it('OPTIONS answers a preflight', async () => {
    const answer = await send({
      method: 'OPTIONS',
      path: `/v7/${ada.projectId}/connections`,
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe('https://app.example.com');
    expect(answer.headers['access-control-allow-headers']).toContain('authorization');
    expect(answer.headers['access-control-allow-methods']).toContain('PATCH');
  });
});
