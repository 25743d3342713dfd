import { randomUUID } from 'node:crypto';
import { type OperationSpec, signTestingJwt, signTestingJwtV2 } from '@kith/contracts';
import { jwtVerify } from 'jose';
import { expect, it } from 'vitest';
import { ecKey, keyPair, privateKey } from '../support/keys.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

export const crypto = surfaceSuite('crypto', (world) => {
  const pair = keyPair();
  const key = pair.privateKey;
  /** The two forms of the same operation. The field that contains the user has another name in each form. */
  const forms: [string, OperationSpec, 'payload' | 'userData'][] = [
    ['sign-testing-jwt', signTestingJwt, 'payload'],
    ['sign-testing-jwt/v2', signTestingJwtV2, 'userData'],
  ];
  const verify = async (token: string) =>
    (await jwtVerify(token, pair.publicKey, { algorithms: ['RS256'], issuer: 'p', audience: 'kith.dev' }))
      .payload;

  it('signs a token, and ignores a token in the request', async () => {
    const user = { id: 'u-1', name: 'Ada', role: 'admin', plan: { tier: 2 } };
    const signed = await world.ok(signTestingJwt, {
      token: 'nonsense',
      body: { projectId: 'p', privateKey: key, payload: user },
    });
    const claims = { sub: 'u-1', name: 'Ada', role: 'admin', userData: user };
    const { iat = 0, exp = 0, ...payload } = await verify(signed.body.token);
    expect(payload).toEqual({ ...claims, iss: 'p', aud: 'kith.dev' });
    expect(exp - iat).toBe(300);
    expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(60);
    const bare = await world.ok(signTestingJwtV2, {
      body: { projectId: 'p', privateKey: key, userData: user },
    });
    expect(await verify(bare.body)).toMatchObject(claims);
  });

  it('accepts an unknown project, and makes no claim from a name or role that is not text', async () => {
    const payload = { id: 'u', name: 7, role: null };
    const { body } = await world.ok(signTestingJwt, {
      projectId: randomUUID(),
      body: { projectId: 'p', privateKey: key, payload },
    });
    const claims = await verify(body.token);
    expect(Object.keys(claims).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'sub', 'userData']);
    expect(claims.userData).toEqual(payload);
  });

  it.each(forms)(
    '%s names the missing field: first the user’s id, then projectId, then privateKey',
    async (_, spec, user) => {
      const code = 'crypto/missing-params';
      const missing = `The user id is missing from the payload: ${user}.id must be a string, not empty.`;
      for (const held of [{}, { id: '' }, { id: 7 }]) {
        await world.refused(spec, { body: { [user]: held } }, code, {
          field: `${user}.id`,
          message: missing,
        });
      }
      for (const body of [undefined, { [user]: 'text' }, { [user]: [] }, { [user]: null }]) {
        await world.refused(spec, { body }, code, { field: user });
      }
      await world.refused(spec, { body: { [user]: { id: 'u' } } }, code, { field: 'projectId' });
      const named = { [user]: { id: 'u' }, projectId: 'p' };
      for (const projectId of [7, '']) {
        await world.refused(spec, { body: { ...named, projectId } }, code, { field: 'projectId' });
      }
      await world.refused(spec, { body: named }, code, { field: 'privateKey' });
      await world.refused(spec, { body: { ...named, privateKey: {} } }, code, { field: 'privateKey' });
    },
  );

  it.each(forms)('%s says why a key cannot sign', async (_, spec, user) => {
    const keys = [
      'no base64!',
      Buffer.from('no PEM').toString('base64'),
      ecKey(),
      privateKey({ bits: 1024 }),
    ];
    for (const bad of keys) {
      const body = { [user]: { id: 'u' }, projectId: 'p', privateKey: bad };
      await world.refused(spec, { body }, 'crypto/server-error', { details: true });
    }
  });
});
