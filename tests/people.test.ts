import type { Connection } from '@kith/contracts';
import { availableEngines, sharedPlatform, type TestPlatform, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from './support/http.ts';

describe.each(availableEngines())('people (%s)', (engine) => {
  let platform: TestPlatform;
  let projectId: string;

  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    projectId = (await platform.createProject()).id;
  });
  afterAll(() => platform.stop());

  const connections = async (user: TestUser) => {
    const { connections: list } = await platform.call<{ connections: Connection[] }>(
      'GET',
      `/v7/${projectId}/connections`,
      { token: user.accessToken },
    );
    return list;
  };

  it('two people who connect see each other in their lists immediately, and later see each other’s new profile', async () => {
    const ada = await platform.createUser(projectId, { name: 'Ada', username: 'ada', bio: 'First' });
    const grace = await platform.createUser(projectId, { name: 'Grace', username: 'grace' });
    const id = await platform.connect(ada, grace, 'Hello');
    const common = { id, message: 'Hello' };
    expect(await connections(ada)).toMatchObject([
      { ...common, connectedUser: { id: grace.id, name: 'Grace' } },
    ]);
    expect(await connections(grace)).toMatchObject([
      { ...common, connectedUser: { id: ada.id, name: 'Ada', username: 'ada', bio: 'First' } },
    ]);

    await platform.call('PATCH', `/v7/${projectId}/users/${ada.id}`, {
      token: ada.accessToken,
      body: { name: 'Countess', bio: null },
    });
    const seen = await waitFor(
      async () => {
        const [one] = await connections(grace);
        return one?.connectedUser.name === 'Countess' && one;
      },
      { what: 'the changed profile' },
    );
    expect(seen.connectedUser).toMatchObject({ id: ada.id, name: 'Countess', bio: null, username: 'ada' });
  });

  it('no answer contains a password, a hash or another user’s e-mail address', async () => {
    const one = await platform.createUser(projectId);
    const two = await platform.createUser(projectId);
    await platform.connect(one, two);
    const answers = await Promise.all([
      http(platform.url, { path: `/v7/${projectId}/connections`, token: two.accessToken }),
      http(platform.url, { path: `/v7/${projectId}/users/${one.id}`, token: two.accessToken }),
      http(platform.url, { path: `/v7/${projectId}/users/${one.id}` }),
    ]);
    for (const { status, text } of answers) {
      expect(status).toBe(200);
      expect(text).toContain(one.id);
      expect(text).not.toMatch(/password|argon2|hash/i);
      expect(text).not.toContain(one.email);
    }
    const own = await http(platform.url, {
      path: `/v7/${projectId}/users/${one.id}`,
      token: one.accessToken,
    });
    expect(own.json()).toMatchObject({ email: one.email, isActive: true, isVerified: false });
    const logs = await platform.logs();
    expect(logs).toContain('identity.sign-up');
    for (const secret of [one.password, one.accessToken, one.refreshToken])
      expect(logs.includes(secret)).toBe(false);
  });
});
