import { randomUUID } from 'node:crypto';
import {
  deleteSession,
  getJwks,
  listSessions,
  requestNewAccessToken,
  revokeKey,
  rotateKeys,
  type Session,
  signIn,
  signOut,
  suspendUser,
} from '@kith/contracts';
import { type TestUser, waitFor } from '@kith/testing';
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import { expect, it } from 'vitest';
import { refusesStrangers, refusesTwice } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

export const sessions = surfaceSuite('sessions', (world) => {
  const signInAs = async ({ email, password }: TestUser, headers: Record<string, string> = {}) =>
    (await world.ok(signIn, { body: { email, password }, headers })).body;
  const refresh = async ({ refreshToken }: Pick<Session, 'refreshToken'>) => {
    const { body } = await world.ok(requestNewAccessToken, { body: { refreshToken } });
    return { body: body as Session };
  };
  const isOver = ({ accessToken: token }: Pick<Session, 'accessToken'>) =>
    waitFor(() => world.refused(listSessions, { token }, 'auth/unauthorized'), { what: 'the revocation' });

  it('every operation that needs a token checks it before all else', () =>
    refusesStrangers(world, features.sessions.operations));

  it('sign-out returns 204 for any token, and ends the session if the token is valid', async () => {
    const ada = await world.user();
    const other = await signInAs(ada);
    for (const refreshToken of [7, 'x'.repeat(513)]) {
      await world.refused(signOut, { body: { refreshToken } }, 'auth/invalid-body', {
        field: 'refreshToken',
      });
    }
    for (const refreshToken of [undefined, null, '', 'never given out'])
      await world.ok(signOut, { body: { refreshToken } });
    await world.ok(signOut, {});
    // This token belongs to another project, so its session does not end.
    await world.ok(signOut, { body: { refreshToken: world.stranger.refreshToken } });
    await world.ok(signOut, { body: { refreshToken: ada.refreshToken } });
    await world.ok(signOut, { body: { refreshToken: ada.refreshToken } });
    const body = { refreshToken: ada.refreshToken };
    await world.refused(requestNewAccessToken, { body }, 'auth/unauthorized');
    await isOver(ada);
    await world.ok(listSessions, { token: other.accessToken });
    const { projectId, accessToken: token } = world.stranger;
    await world.ok(listSessions, { projectId, token });
  });

  it('request-new-access-token replaces the refresh token, allows a retry, and ends the session if an old token is reused', async () => {
    const ada = await world.user();
    for (const refreshToken of [7, 'x'.repeat(513)]) {
      const given = { projectId: randomUUID(), body: { refreshToken } };
      await world.refused(requestNewAccessToken, given, 'auth/invalid-body', { field: 'refreshToken' });
    }
    for (const body of [undefined, {}, { refreshToken: null }, { refreshToken: '' }]) {
      const given = body ? { body } : {};
      expect((await world.ok(requestNewAccessToken, given)).body).toEqual({ user: null, accessToken: null });
    }
    for (const refreshToken of ['never given out', world.stranger.refreshToken]) {
      await world.refused(requestNewAccessToken, { body: { refreshToken } }, 'auth/unauthorized');
    }
    const first = await refresh(ada);
    expect(first.body.refreshToken).not.toBe(ada.refreshToken);
    expect(first.body.user).toEqual(ada.user);
    expect(decodeJwt(first.body.accessToken).sid).toBe(decodeJwt(ada.accessToken).sid);
    expect((await refresh(ada)).body.refreshToken).toBe(first.body.refreshToken);
    const second = await refresh(first.body);
    const reused = { body: { refreshToken: ada.refreshToken } };
    await world.refused(requestNewAccessToken, reused, 'auth/token-reuse-detected');
    const newest = { body: { refreshToken: second.body.refreshToken } };
    await world.refused(requestNewAccessToken, newest, 'auth/unauthorized');
    await isOver(second.body);
  });

  it('request-new-access-token reports the suspension to a suspended user', async () => {
    const ada = await world.user();
    const { projectId, operatorToken: token } = world;
    await world.ok(suspendUser, { params: { projectId, userId: ada.id }, token });
    const given = { body: { refreshToken: ada.refreshToken } };
    await world.refused(requestNewAccessToken, given, 'auth/suspended');
  });

  it('sessions are listed, newest first, and the caller’s own session is marked', async () => {
    const ada = await world.user();
    const second = await signInAs(ada, { 'user-agent': 'Second/2.0' });
    const given = { token: second.accessToken };
    const { body } = await world.ok(listSessions, given);
    expect(body.data.map(({ userAgent, current }) => [userAgent, current])).toEqual([
      ['Second/2.0', true],
      [expect.any(String), false],
    ]);
    expect(body.data.map(({ id }) => id)).toEqual(
      [second, ada].map(({ accessToken }) => decodeJwt(accessToken).sid),
    );
    for (const { ip, createdAt, lastUsedAt } of body.data)
      expect([ip, lastUsedAt]).toEqual(['127.0.0.1', createdAt]);
    await walksList(world, listSessions, given, { rows: ({ data }) => data, max: 100 });
    await refusesTwice(world, listSessions, given);
  });

  it('a session can be ended once, only by its own user', async () => {
    const ada = await world.user();
    const other = await signInAs(ada);
    const { accessToken: token } = ada;
    const idOf = ({ accessToken }: { accessToken: string }) => String(decodeJwt(accessToken).sid);
    const notMine = [idOf(await world.user()), idOf(world.stranger)];
    for (const sessionId of ['nonsense', randomUUID(), ...notMine]) {
      await world.refused(deleteSession, { token, params: { sessionId } }, 'auth/session-not-found');
    }
    const given = { token, params: { sessionId: idOf(other).toUpperCase() } };
    await world.ok(deleteSession, given);
    await world.refused(deleteSession, given, 'auth/session-not-found');
    await isOver(other);
    expect((await world.ok(listSessions, { token })).body.data).toHaveLength(1);
  });

  it('the key set verifies access tokens, and contains only public keys', async () => {
    const { body, headers } = await world.ok(getJwks);
    expect(headers['cache-control']).toBe('public, max-age=300');
    for (const key of body.keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
      expect(key).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256' });
    }
    const { accessToken } = await world.user();
    const verified = await jwtVerify(accessToken, createLocalJWKSet(body as JSONWebKeySet));
    expect(verified.protectedHeader.kid).toBe(body.keys[0]?.kid);
  });

  it('a rotation publishes the next key, and a second rotation changes nothing', async () => {
    const { operatorToken: token } = world;
    const { accessToken } = await world.user();
    const before = (await world.ok(getJwks)).body.keys.map(({ kid }) => kid);
    const { body } = await world.ok(rotateKeys, { token });
    expect(body.keys.map(({ state }) => state)).toEqual(['published', 'signing']);
    expect(body.keys[1]?.kid).toBe(before[0]);
    expect((await world.ok(rotateKeys, { token })).body).toEqual(body);
    await world.ok(listSessions, { token: accessToken });
  });

  it('a revoked key disappears from the key set, and a repeated revocation changes nothing', async () => {
    const { operatorToken: token } = world;
    const [{ kid } = { kid: '' }, signing] = (await world.ok(rotateKeys, { token })).body.keys;
    const { body } = await world.ok(revokeKey, { token, body: { kid } });
    expect(body.keys).toEqual([signing]);
    expect((await world.ok(revokeKey, { token, body: { kid } })).body).toEqual(body);
    await waitFor(async () => (await world.ok(getJwks)).body.keys.every((key) => key.kid !== kid));
    await world.refused(revokeKey, { token, body: { kid: 'made up' } }, 'auth/key-not-found');
    for (const bad of [undefined, 7, '', 'x'.repeat(129)]) {
      await world.refused(revokeKey, { token, body: { kid: bad } }, 'auth/invalid-body', { field: 'kid' });
    }
  });
});
