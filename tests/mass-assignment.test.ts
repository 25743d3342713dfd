import { methodsOf, type OperationSpec, operations } from '@kith/contracts';
import { handlerEngines, sharedPlatform, type TestPlatform, type TestUser } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from './support/http.ts';
import { sampleBody, sampleQuery } from './support/samples.ts';

// Fields that no request may set through its body: fields of stored rows, fields of answers, and made-up fields.
const marker = 'injected-5b1c';
const injected = {
  id: '11111111-2222-3333-4444-555555555555',
  _id: marker,
  projectId: '11111111-2222-3333-4444-555555555555',
  userId: '11111111-2222-3333-4444-555555555555',
  role: marker,
  reputation: 424_242,
  isVerified: true,
  isActive: false,
  isRoot: true,
  foreignId: marker,
  entityCount: 424_242,
  passwordHash: marker,
  rev: 424_242,
  seq: 424_242,
  state: marker,
  ancestors: [marker],
  createdAt: '1999-01-01T00:00:00.000Z',
  updatedAt: '1999-01-01T00:00:00.000Z',
  madeUp: marker,
};

const writes = operations.filter(
  (one) =>
    one.scope === 'project' &&
    one.auth === 'user' &&
    // Uploads are left out, because the platform reads only those fields of a form that the contract names.
    one.kind !== 'upload' &&
    methodsOf(one).some((method) => method === 'POST' || method === 'PATCH' || method === 'PUT') &&
    // This operation would end the session that the other operations need.
    one.name !== 'identity.change-password',
);

describe.each(handlerEngines())('mass assignment (%s)', (engine) => {
  let platform: TestPlatform;
  let ada: TestUser;
  let ids: Record<string, string>;

  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    const { id } = await platform.createProject();
    ada = await platform.createUser(id, { name: 'Ada' });
    const [asker, other] = [await platform.createUser(id), await platform.createUser(id)];
    const request = await platform.call<{ id: string }>('POST', `/v7/${id}/users/${ada.id}/connection`, {
      token: asker.accessToken,
    });
    ids = {
      userId: other.id,
      connectionId: request.id,
      collectionId: (await platform.createCollection(ada, 'Folder')).id,
      notificationId: '00000000-0000-4000-8000-000000000001',
    };
  });
  afterAll(() => platform?.stop());

  const path = (of: OperationSpec) => {
    const own: Record<string, string> = of.name === 'identity.update-user' ? { ...ids, userId: ada.id } : ids;
    return `/v7/${ada.projectId}${of.path.replaceAll(/:(\w+)/g, (_, name: string) => own[name] ?? '')}${sampleQuery(of)}`;
  };

  it.each(writes.map((one) => [one.name, one] as const))(
    '%s stores nothing but its own fields',
    async (_, one) => {
      const sample = sampleBody(one);
      const fields = { ...sample, ...('password' in sample && { password: ada.password }) };
      const extra = Object.fromEntries(Object.entries(injected).filter(([name]) => !(name in fields)));
      const [method] = methodsOf(one);
      const answer = await http(platform.url, {
        method,
        path: path(one),
        token: ada.accessToken,
        body: { ...extra, ...fields },
      });
      expect([200, 201, 204, 404, 409]).toContain(answer.status);
      const reads = operations.filter(
        (read) =>
          methodsOf(read).includes('GET') &&
          read.auth === 'user' &&
          read.scope === 'project' &&
          read.kind !== 'stream',
      );
      const views = await Promise.all([
        answer,
        http(platform.url, { path: `/v7/${ada.projectId}/users/${ada.id}`, token: ada.accessToken }),
        ...reads.map((read) => http(platform.url, { path: path(read), token: ada.accessToken })),
      ]);
      for (const { text } of views) {
        for (const trace of [
          marker,
          '424242',
          '1999-01-01',
          '11111111-2222',
          '"isVerified":true',
          '"isActive":false',
        ]) {
          expect(text).not.toContain(trace);
        }
      }
    },
  );

  it('sign-up stores nothing but its own fields', async () => {
    const answer = await http(platform.url, {
      method: 'POST',
      path: `/v7/${ada.projectId}/auth/sign-up`,
      body: { ...injected, email: 'mass@example.com', password: 'correct horse' },
    });
    expect(answer.status).toBe(201);
    const { user } = answer.json() as { user: Record<string, unknown> };
    expect(user).toMatchObject({
      role: 'visitor',
      reputation: 0,
      isVerified: false,
      isActive: true,
      foreignId: null,
    });
    expect(answer.text).not.toContain(marker);
  });
});
