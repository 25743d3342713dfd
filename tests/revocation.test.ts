import { createLogger } from '@kith/base';
import { NatsBus } from '@kith/bus/nats';
import { availableEngines, layLine, startEngines, type TestUser, waitFor } from '@kith/testing';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthWorld, operatorToken, startAuthWorld } from './support/auth-world.ts';
import { http } from './support/http.ts';

const unauthorized = { error: 'The access token was revoked. Sign in again.', code: 'auth/unauthorized' };
const suspended = { error: 'This account is suspended.', code: 'auth/suspended' };
/**
 * How long the tests wait until the gateways know of a revocation. The contract allows one second. The tests wait ten times as
 * long, because the machine may be busy. A gateway that gets no notice asks for revocations only every thirty seconds.
 */
const within = { timeoutMs: 10_000, what: 'the refusal' };

describe.each(availableEngines())('revocation (%s)', (engine) => {
  let world: AuthWorld;
  let projectId: string;
  beforeAll(async () => {
    world = await startAuthWorld(engine);
    projectId = (await world.createProject()).id;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const sessions = (user: Pick<TestUser, 'accessToken'>, url = world.url) =>
    http(url, { path: `/v7/${projectId}/auth/sessions`, token: user.accessToken });
  const post = (path: string, body?: unknown, token?: string) =>
    http(world.url, { method: 'POST', path, ...(token ? { token } : {}), ...(body ? { body } : {}) });
  const scope = () => `/v7/${projectId}/auth`;
  const admin = (user: TestUser, what: string) =>
    post(`/admin/projects/${projectId}/users/${user.id}/${what}`, undefined, operatorToken);
  const signIn = async (user: TestUser) => {
    const { email, password } = user;
    return (await post(`${scope()}/sign-in`, { email, password })).json() as TestUser;
  };

  it('after a sign-out, an ended session or a reused token, every gateway refuses the session within a second', async () => {
    const second = await world.anotherGateway();
    const refresh = (refreshToken: string) => post(`${scope()}/request-new-access-token`, { refreshToken });
    const ends: ((user: TestUser) => Promise<unknown>)[] = [
      (user) => post(`${scope()}/sign-out`, { refreshToken: user.refreshToken }),
      (user) =>
        http(world.url, {
          method: 'DELETE',
          path: `${scope()}/sessions/${decodeJwt(user.accessToken).sid}`,
          token: user.accessToken,
        }),
      async (user) => {
        const next = (await refresh(user.refreshToken)).json() as TestUser;
        await refresh(next.refreshToken);
        return refresh(user.refreshToken);
      },
    ];
    for (const end of ends) {
      const user = await world.createUser(projectId);
      const other = await signIn(user);
      for (const url of [world.url, second.url]) expect((await sessions(user, url)).status).toBe(200);
      await end(user);
      for (const url of [world.url, second.url]) {
        const answer = await waitFor(async () => {
          const found = await sessions(user, url);
          return found.status === 401 && found;
        }, within);
        expect(answer.json()).toEqual(unauthorized);
        expect((await sessions(other, url)).status).toBe(200);
      }
    }
  });

  it('a change of the password revokes the other sessions', async () => {
    const user = await world.createUser(projectId);
    const other = await signIn(user);
    const body = { password: user.password, newPassword: 'another password' };
    expect((await post(`${scope()}/change-password`, body, user.accessToken)).status).toBe(200);
    await waitFor(async () => (await sessions(other)).status === 401, within);
    expect((await sessions(user)).status).toBe(200);
  });

  it('a suspended user’s tokens get auth/suspended until the user is restored and signs in again', async () => {
    const user = await world.createUser(projectId);
    expect((await admin(user, 'suspend')).status).toBe(200);
    const answer = await waitFor(async () => {
      const found = await sessions(user);
      return found.status !== 200 && found;
    }, within);
    expect([answer.status, answer.json()]).toEqual([403, suspended]);
    const started = await world.anotherGateway();
    expect((await sessions(user, started.url)).json()).toEqual(suspended);
    expect((await admin(user, 'restore')).status).toBe(200);
    await waitFor(async () => (await sessions(user)).status === 401, within);
    expect((await sessions(await signIn(user))).status).toBe(200);
  });

  it('a gateway that was just started knows the revocations', async () => {
    const user = await world.createUser(projectId);
    await post(`${scope()}/sign-out`, { refreshToken: user.refreshToken });
    const started = await world.anotherGateway();
    const answer = await sessions(user, started.url);
    expect([answer.status, answer.json()]).toEqual([401, unauthorized]);
  });

  it('after the revocation of a signing key, every gateway refuses its tokens, and a refresh returns a valid token', async () => {
    const second = await world.anotherGateway();
    await world.anotherIdentity();
    const urls = [world.url, second.url];
    const user = await world.createUser(projectId);
    for (const url of urls) expect((await sessions(user, url)).status).toBe(200);
    const { kid } = decodeProtectedHeader(user.accessToken);
    const revoked = await post('/admin/keys/revoke', { kid }, operatorToken);
    expect([revoked.status, revoked.text.includes(String(kid))]).toEqual([200, false]);
    for (const url of urls) {
      const answer = await waitFor(async () => {
        const found = await sessions(user, url);
        return found.status === 401 && found;
      }, within);
      expect(answer.json()).toEqual(unauthorized);
    }
    // Both replicas of identity know of the revocation. Neither replica signs with the key or publishes it.
    let { refreshToken } = user;
    for (let turn = 0; turn < 6; turn++) {
      const next = (await post(`${scope()}/request-new-access-token`, { refreshToken })).json() as TestUser;
      expect(decodeProtectedHeader(next.accessToken).kid).not.toBe(kid);
      for (const url of urls) {
        expect((await sessions(next, url)).status).toBe(200);
        expect((await sessions(user, url)).status).toBe(401);
        expect((await http(url, { path: '/.well-known/jwks.json' })).text).not.toContain(kid);
      }
      refreshToken = next.refreshToken;
    }
    const started = await world.anotherGateway();
    expect((await sessions(user, started.url)).status).toBe(401);
  });

  it('suspending and restoring a user requires an operator’s token', async () => {
    const user = await world.createUser(projectId);
    for (const what of ['suspend', 'restore']) {
      for (const token of [undefined, user.accessToken]) {
        const path = `/admin/projects/${projectId}/users/${user.id}/${what}`;
        const answer = await post(path, undefined, token);
        expect(answer.status).toBe(401);
        expect(answer.json()).toMatchObject({ code: 'auth/unauthorized' });
      }
    }
    expect((await sessions(user)).status).toBe(200);
  });
});

describe.runIf(availableEngines().includes('containers'))('revocation over a bus that breaks', () => {
  it('a gateway that was disconnected gets the revocations as soon as it is connected again', async () => {
    await using world = await startAuthWorld('containers');
    await using engines = await startEngines();
    await using way = await layLine(new URL(engines.natsUrl));
    const { id: projectId } = await world.createProject();
    const { prefix } = world.runtime.bus;
    const log = createLogger({ name: 'test', level: 'silent' });
    await using closing = new AsyncDisposableStack();
    const bus = await NatsBus.connect({ url: `nats://${way.address}`, name: 'gateway', prefix, log });
    closing.defer(() => bus.close());
    const gateway = await world.anotherGateway(bus);
    const sessions = ({ accessToken: token }: TestUser) =>
      http(gateway.url, { path: `/v7/${projectId}/auth/sessions`, token });
    const [ended, stopped, untouched] = [
      await world.createUser(projectId),
      await world.createUser(projectId),
      await world.createUser(projectId),
    ];
    for (const user of [ended, stopped]) expect((await sessions(user)).status).toBe(200);
    way.cut();
    await waitFor(() => !bus.isConnected(), { what: 'the break' });
    const post = { method: 'POST', token: operatorToken };
    const body = { refreshToken: ended.refreshToken };
    await http(world.url, { ...post, path: `/v7/${projectId}/auth/sign-out`, body });
    await http(world.url, { ...post, path: `/admin/projects/${projectId}/users/${stopped.id}/suspend` });
    way.mend();
    await waitFor(() => bus.isConnected(), { what: 'the connection' });
    await waitFor(async () => (await sessions(ended)).status === 401, within);
    expect((await sessions(stopped)).json()).toEqual(suspended);
    expect((await sessions(untouched)).status).toBe(200);
  });
});
