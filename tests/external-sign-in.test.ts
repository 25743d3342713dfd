import { randomUUID } from 'node:crypto';
import { availableEngines } from '@kith/testing';
import { expect, test } from 'vitest';
import { operatorToken, startAuthWorld } from './support/auth-world.ts';
import { http } from './support/http.ts';
import { keyPair } from './support/keys.ts';

test.each(availableEngines())(
  'a signed test token can be exchanged for a session of its user (%s)',
  async (engine) => {
    await using world = await startAuthWorld(engine);
    const { id: projectId } = await world.createProject();
    const pair = keyPair();
    const post = (path: string, body: unknown) => http(world.url, { method: 'POST', path, body });
    const signed = await post(`/v7/${projectId}/crypto/sign-testing-jwt`, {
      projectId,
      privateKey: pair.privateKey,
      payload: { id: 'their-7', name: 'Ada', username: 'ada', role: 'admin' },
    });
    const { token: userJwt } = signed.json() as { token: string };
    const exchange = (jwt = userJwt) => post(`/v7/${projectId}/auth/verify-external-user`, { userJwt: jwt });
    expect((await exchange()).json()).toMatchObject({ code: 'auth/missing-keys' });

    const registered = await http(world.url, {
      method: 'PATCH',
      path: `/admin/projects/${projectId}`,
      token: operatorToken,
      body: { publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }) },
    });
    expect(registered.status).toBe(200);
    const answer = await exchange();
    expect(answer.status).toBe(200);
    const { accessToken, user } = answer.json() as { accessToken: string; user: { id: string } };
    expect(user).toMatchObject({ foreignId: 'their-7', name: 'Ada', username: 'ada', role: 'visitor' });
    const self = await http(world.url, { path: `/v7/${projectId}/users/${user.id}`, token: accessToken });
    expect(self.json()).toEqual(user);
    const renamed = await http(world.url, {
      method: 'PATCH',
      path: `/v7/${projectId}/users/${user.id}`,
      token: accessToken,
      body: { bio: 'Hello' },
    });
    expect(renamed.status).toBe(200);

    const elsewhere = await post(`/v7/${projectId}/crypto/sign-testing-jwt`, {
      projectId: randomUUID(),
      privateKey: pair.privateKey,
      payload: { id: 'their-7' },
    });
    const refused = await exchange((elsewhere.json() as { token: string }).token);
    expect([refused.status, refused.json()]).toEqual([
      403,
      { error: 'The user token is not valid.', code: 'auth/invalid-token' },
    ]);
  },
);
