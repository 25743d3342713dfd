import { randomUUID } from 'node:crypto';
import { checkUsername, createProject, getUser, listConnections } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  expectError,
  projectId,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
  userId,
} from './harness.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe.each(handlerEngines())('authentication on %s', (engine) => {
  let test: TestGateway;
  let port: number;
  beforeAll(async () => {
    test = await startTestGateway(engine, {
      env: { OPERATOR_TOKEN: 'operator-secret', RATE_LIMIT_SCALE: '0' },
    });
    port = test.gateway.port;
  });
  afterAll(() => test[Symbol.asyncDispose]());
  const list = (headers: Record<string, string> = {}) =>
    send(port, { path: `/v7/${projectId}/connections`, headers });

  /**
   * Makes a gateway accept a token, and then a second token, which a new key has signed. Returns the issuer, the old token, and
   * a function that sends a request with any token and returns the status.
   */
  async function changeKeys(rotating: TestGateway, how: { keepOld: boolean }) {
    const issuer = await serveIssuer(rotating.bus);
    await serveEcho(rotating.bus, listConnections);
    const gateway = await rotating.another();
    const status = async (token: string) =>
      (await send(gateway.port, { path: `/${projectId}/connections`, headers: bearer(token) })).status;
    const old = await issuer.token();
    expect(await status(old)).toBe(200);
    await issuer.rotate(how);
    const young = await issuer.token();
    await waitFor(async () => (await status(young)) === 200, { what: 'the new key' });
    return { issuer, status, old };
  }

  it('accepts tokens only after it has keys, and still accepts them while identity is away', async () => {
    const service = await serveEcho(test.bus, listConnections);
    const open = await serveEcho(test.bus, checkUsername);
    const future = await startTestGateway('embedded');
    const elsewhere = await serveIssuer(future.bus);
    expect(await test.gateway.notReady()).toEqual(['keys', 'revocations', 'project-settings', 'api-keys']);
    const early = await list(bearer(await elsewhere.token()));
    expectError(early, 'gateway/unavailable');
    expect(early.headers['retry-after']).toBe('1');
    expectError(await list(), 'auth/unauthorized');
    expect((await send(port, { path: `/${projectId}/users/check-username` })).status).toBe(200);
    expectError(await send(port, { path: `/${projectId}/users/${userId}` }), 'gateway/unavailable');
    await future[Symbol.asyncDispose]();

    const issuer = await serveIssuer(test.bus);
    expect((await list(bearer(await issuer.token()))).status).toBe(200);
    await waitFor(async () => (await test.gateway.notReady()).length === 0, { what: 'readiness' });
    await issuer.stop();
    expect((await list(bearer(await issuer.token()))).status).toBe(200);
    expectError(await list(bearer(await elsewhere.token())), 'auth/unauthorized');
    await service.stop();
    await open.stop();
  });

  it('fetches the keys by itself if identity starts later', async () => {
    await using late = await startTestGateway(engine);
    expect(await late.gateway.notReady()).toEqual(['keys', 'revocations', 'project-settings', 'api-keys']);
    await serveIssuer(late.bus);
    await waitFor(async () => (await late.gateway.notReady()).length === 0, { what: 'keys' });
  });

  it('answers 401 with WWW-Authenticate to every invalid token', async () => {
    const issuer = await serveIssuer(test.bus);
    const gateway = await test.another();
    const at = (headers: Record<string, string>) =>
      send(gateway.port, { path: `/${projectId}/connections`, headers });
    const now = Math.floor(Date.now() / 1000);
    const token = await issuer.token();
    const tokens: Record<string, string>[] = [
      {},
      { authorization: '' },
      { authorization: 'Basic dTpw' },
      { authorization: token },
      bearer(''),
      bearer('null'),
      bearer('a.b.c'),
      bearer(`${token.slice(0, -8)}AAAAAAAA`),
      bearer(await issuer.token({ exp: now - 1 })),
      bearer(await issuer.token({ iss: 'other' })),
      bearer(await issuer.token({ aud: 'other' })),
    ];
    for (const headers of tokens) {
      const answer = await at(headers);
      expectError(answer, 'auth/unauthorized');
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
    expectError(await at(bearer(await issuer.token({ projectId: randomUUID() }))), 'auth/forbidden');
    expectError(await at({ authorization: `bEaReR ${token}` }), 'gateway/unavailable');
    await issuer.stop();
  });

  it('accepts tokens of the new and the old key, and rarely fetches keys for made-up key ids', async () => {
    await using rotating = await startTestGateway(engine);
    const { issuer, status, old } = await changeKeys(rotating, { keepOld: true });
    await using elsewhere = await startTestGateway('embedded');
    const stranger = await serveIssuer(elsewhere.bus);
    expect(await status(old)).toBe(200);

    const asked = issuer.asked;
    const started = performance.now();
    const made = await stranger.token();
    const statuses = await Promise.all(Array.from({ length: 40 }, () => status(made)));
    expect(new Set(statuses)).toEqual(new Set([401]));
    const seconds = (performance.now() - started) / 1000;
    expect(issuer.asked - asked).toBeLessThanOrEqual(1 + seconds);
  });

  it('refuses the tokens of a key that is no longer in use', async () => {
    await using rotating = await startTestGateway(engine);
    const { status, old } = await changeKeys(rotating, { keepOld: false });
    expect(await status(old)).toBe(401);
  });

  it('uses a valid token if tokens are optional, and treats any other token as no token', async () => {
    const issuer = await serveIssuer(test.bus);
    const gateway = await test.another();
    const service = await serveEcho(test.bus, getUser);
    const path = `/${projectId}/users/${userId}`;
    const now = Math.floor(Date.now() / 1000);
    const given = [
      bearer(await issuer.token()),
      {},
      bearer('null'),
      bearer(await issuer.token({ exp: now - 1 })),
      bearer(await issuer.token({ projectId: randomUUID() })),
    ];
    for (const headers of given) expect((await send(gateway.port, { path, headers })).status).toBe(200);
    expect(service.seen.map(({ context }) => context.caller?.userId ?? null)).toEqual([
      userId,
      null,
      null,
      null,
      null,
    ]);
    await service.stop();
    await issuer.stop();
  });

  it('starts in production only with a long operator token or with none', async () => {
    const start = (env: Record<string, string>) => test.another({ nodeEnv: 'production', env });
    const sentence = 'OPERATOR_TOKEN: at least 32 characters are needed in production.';
    await expect(start({ OPERATOR_TOKEN: 'x'.repeat(31) })).rejects.toThrow(sentence);
    for (const env of [{ OPERATOR_TOKEN: 'x'.repeat(32) }, {} as Record<string, string>]) await start(env);
  });

  it('accepts operators with their token, and nobody if no token is set', async () => {
    const service = await serveEcho(test.bus, createProject);
    const issuer = await serveIssuer(test.bus);
    const user = await issuer.token();
    const post = (at: number, headers: Record<string, string>) =>
      send(at, { method: 'POST', path: '/admin/projects', headers });
    expect((await post(port, bearer('operator-secret'))).status).toBe(200);
    expect(service.seen[0]?.context).toMatchObject({ caller: null, projectId: null });
    const unset = await test.another({});
    for (const [at, headers] of [
      [port, {}],
      [port, bearer('operator-secre')],
      [port, bearer(user)],
      [unset.port, bearer('operator-secret')],
      [unset.port, bearer('undefined')],
      [unset.port, {}],
    ] as const) {
      const answer = await post(at, headers);
      expectError(answer, 'auth/unauthorized');
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
    await issuer.stop();
    await service.stop();
  });
});
