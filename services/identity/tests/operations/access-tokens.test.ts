import { getJwks, signIn } from '@kith/contracts';
import { createRuntime, createStore, handlerEngines, testSecrets } from '@kith/testing';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startIdentity } from '../../src/index.ts';
import { call } from '../support/call.ts';
import { startTestIdentity, type TestIdentity } from '../support/identity.ts';
import { makeProject, password, signUpUser } from '../support/people.ts';
import { dumpStore } from '../support/raw-store.ts';

describe.each(handlerEngines())('access tokens on %s', (engine) => {
  let identity: TestIdentity;

  beforeAll(async () => {
    identity = await startTestIdentity(engine);
  });
  afterAll(() => identity[Symbol.asyncDispose]());

  test('are verified by the published keys', async () => {
    const projectId = await makeProject(identity.bus);
    const signedUp = await signUpUser(identity.bus, projectId);
    const { email } = signedUp.user;
    const signedIn = await call(identity.bus, signIn, { projectId, body: { email, password } });
    const { body: keys } = await call(identity.bus, getJwks);
    const { sessions } = await dumpStore(identity.store);
    const ids = new Set<unknown>();
    for (const { accessToken, user } of [signedUp, signedIn.body]) {
      const { payload, protectedHeader } = await jwtVerify(accessToken, createLocalJWKSet(keys), {
        issuer: 'kith',
        audience: 'kith.dev',
        algorithms: ['RS256'],
      });
      expect(protectedHeader).toEqual({ alg: 'RS256', kid: keys.keys[0].kid, typ: 'JWT' });
      const { iat = 0, jti, sid } = payload;
      expect(payload).toEqual({
        sub: user.id,
        projectId,
        role: 'visitor',
        sid: expect.any(String),
        iss: 'kith',
        aud: 'kith.dev',
        iat: expect.any(Number),
        exp: iat + 1800,
        jti: expect.any(String),
      });
      expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(30);
      expect(sessions?.map((session) => session.sid)).toContain(sid);
      ids.add(jti).add(sid);
    }
    expect(ids.size).toBe(4);
  });

  test('the answer with the keys contains only public parts, and has a cache time', async () => {
    const { status, headers, body } = await call(identity.bus, getJwks);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'Content-Type': 'application/json',
      'Cache-Control': 'public, max-age=300',
    });
    expect(body).toEqual({
      keys: [
        {
          kty: 'RSA',
          n: expect.stringMatching(/^[\w-]{342}$/),
          e: 'AQAB',
          kid: expect.stringMatching(/^[\w-]{43}$/),
          use: 'sig',
          alg: 'RS256',
        },
      ],
    });
  });

  test('name the issuer and the audience that are configured', async () => {
    await using place = await createStore(engine);
    await using runtime = await createRuntime(engine);
    const claims = { tokenIssuer: 'https://id.example', tokenAudience: 'example' };
    const options = { store: place.config, secrets: testSecrets, ...claims };
    await using _service = await startIdentity(runtime, options);
    const { accessToken } = await signUpUser(runtime.bus, await makeProject(runtime.bus));
    const { body: keys } = await call(runtime.bus, getJwks);
    const { payload } = await jwtVerify(accessToken, createLocalJWKSet(keys), {
      issuer: 'https://id.example',
      audience: 'example',
    });
    expect(payload).toMatchObject({ iss: 'https://id.example', aud: 'example' });
  });
});
