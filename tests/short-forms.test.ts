import type { Connection } from '@kith/contracts';
import { availableEngines, sharedPlatform, type TestPlatform, type TestUser } from '@kith/testing';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from './support/http.ts';
import { privateKey } from './support/keys.ts';

// Tests the requests that existing client libraries of this API family send, with the addresses and field names that these
// libraries use (spec#existing-clients).
describe.each(availableEngines())('existing clients (%s)', (engine) => {
  let platform: TestPlatform;
  let ada: TestUser;
  let grace: TestUser;
  let connectionId: string;

  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    const { id } = await platform.createProject('Demo');
    ada = await platform.createUser(id, { name: 'Ada' });
    grace = await platform.createUser(id, { name: 'Grace' });
    connectionId = await platform.connect(ada, grace);
  });
  afterAll(() => platform?.stop());

  const get = (path: string, token?: string) => http(platform.url, { path, ...(token ? { token } : {}) });
  const own = {
    currentPage: 1,
    totalPages: 1,
    totalCount: 1,
    hasNextPage: false,
    hasPreviousPage: false,
    limit: 20,
  };

  it('connections.list adds the general envelope to its own envelope under v7 short forms, and nowhere else', async () => {
    const short = (await get('/v7/connections', ada.accessToken)).json() as { connections: Connection[] };
    expect(short).toEqual({
      connections: [expect.objectContaining({ id: connectionId })],
      data: short.connections,
      pagination: { ...own, page: 1, pageSize: 20, totalItems: 1, hasMore: false },
    });
    const plain = { connections: short.connections, pagination: own };
    expect((await get('/v6/connections', ada.accessToken)).json()).toEqual(plain);
    expect((await get(`/v7/${ada.projectId}/connections`, ada.accessToken)).json()).toEqual(plain);
  });

  it('connections.list-of-user and connections.count-of-user need neither project nor token', async () => {
    const list = await get(`/v7/users/${grace.id}/connections`);
    expect(list.json()).toMatchObject({ connections: [{ id: connectionId }], data: [{ id: connectionId }] });
    const count = await get(`/v7/users/${grace.id}/connections-count`);
    expect([count.status, count.json()]).toEqual([200, { count: 1 }]);
    // Existing clients send the token `null` when nobody is signed in.
    const asNobody = await http(platform.url, {
      path: `/v7/users/${grace.id}/connections`,
      headers: { authorization: 'Bearer null' },
    });
    expect(asNobody.status).toBe(200);
  });

  it('connects, declines and blocks without a project id', async () => {
    const other = await platform.createUser(ada.projectId);
    const send = (method: string, path: string, user: TestUser) =>
      http(platform.url, {
        method,
        path,
        token: user.accessToken,
        ...(method === 'DELETE' ? {} : { body: {} }),
      });
    const asked = await send('POST', `/v7/users/${other.id}/connection`, ada);
    expect(asked.status).toBe(201);
    const { id } = asked.json() as { id: string };
    expect((await get('/v7/connections/pending/received', other.accessToken)).json()).toMatchObject({
      requests: [{ id, type: 'received', user: { id: ada.id } }],
      data: [{ id }],
      pagination: { totalItems: 1 },
    });
    expect((await send('PUT', `/v7/connections/${id}/decline`, other)).json()).toMatchObject({
      id,
      status: 'declined',
    });
    expect((await send('POST', `/v7/users/${ada.id}/block`, other)).status).toBe(204);
    expect((await get('/v7/blocks', other.accessToken)).json()).toMatchObject({
      data: [{ user: { id: ada.id } }],
    });
  });

  it('crypto.sign-testing-jwt-v2 answers with nothing but the token', async () => {
    const sign = (body: unknown) =>
      http(platform.url, { method: 'POST', path: `/v7/${ada.projectId}/crypto/sign-testing-jwt/v2`, body });
    const userData = { id: 'user-1', role: 'visitor' };
    const answer = await sign({ projectId: 'p', privateKey: privateKey(), userData });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(decodeJwt(answer.text)).toMatchObject({
      sub: 'user-1',
      iss: 'p',
      aud: 'kith.dev',
      role: 'visitor',
      userData,
    });
    const refused = await sign({ projectId: 'p', privateKey: privateKey(), userData: {} });
    expect([refused.status, refused.json()]).toEqual([
      400,
      {
        error: 'The user id is missing from the payload: userData.id must be a string, not empty.',
        code: 'crypto/missing-params',
        field: 'userData.id',
      },
    ]);
  });

  it('identity.get-project-lean answers before a user has signed in', async () => {
    const answer = await get(`/v7/${ada.projectId}/projects/lean`);
    expect([answer.status, answer.json()]).toEqual([
      200,
      { id: ada.projectId, name: 'Demo', integrations: [] },
    ]);
    const unknown = await get('/v7/00000000-0000-4000-8000-000000000000/projects/lean');
    expect([unknown.status, unknown.json()]).toEqual([
      404,
      { error: 'No such project.', code: 'project/not-found' },
    ]);
  });
});
