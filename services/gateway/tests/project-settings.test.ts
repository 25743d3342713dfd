import { randomUUID } from 'node:crypto';
import {
  checkUsername,
  countUserConnections,
  type GatewaySettings,
  getProject,
  getUser,
  getUserByUsername,
  listConnections,
  listUserConnections,
  noticeSubject,
  projectOfUser,
  projectSettingsNotice,
  signTestingJwt,
  updateProject,
} from '@kith/contracts';
import { serveInternal } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProjectSettings } from '../src/tables/project-settings.ts';
import {
  expectError,
  projectId,
  type Seen,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
  type TestIssuer,
  userId,
} from './harness.ts';

const listed = 'https://app.test';
const other = 'https://other.test';

// spec#projects, docs/adr/0013.
describe.each(handlerEngines())('settings of projects on %s', (engine) => {
  let test: TestGateway;
  let issuer: TestIssuer;
  let lists: { seen: Seen[] };
  const shown = randomUUID();
  beforeEach(async () => {
    test = await startTestGateway(engine, { env: { OPERATOR_TOKEN: 'operator-secret' } });
    issuer = await serveIssuer(test.bus);
    lists = await serveEcho(test.bus, listUserConnections);
    for (const spec of [countUserConnections, listConnections, getUser]) await serveEcho(test.bus, spec);
    await serveInternal(
      {
        spec: projectOfUser,
        handle: async (asked: { userId: string }) => ({
          projectId: asked.userId === shown ? projectId : null,
        }),
      },
      { ...test.runtime, app: {}, checkOutput: true },
    );
    await waitFor(async () => (await test.gateway.notReady()).length === 0, { what: 'readiness' });
  });
  afterEach(() => test[Symbol.asyncDispose]());

  const settings = (given: Partial<GatewaySettings>): GatewaySettings => ({
    projectId,
    limits: {},
    webOrigins: [],
    publicProfiles: 'card',
    publicConnections: true,
    ...given,
  });
  const tell = (given: Partial<GatewaySettings>) =>
    test.bus.broadcast(
      noticeSubject(test.bus.prefix, projectSettingsNotice),
      new TextEncoder().encode(JSON.stringify(settings(given))),
    );
  const get = (path: string, headers: Record<string, string> = {}, port = test.gateway.port) =>
    send(port, { path, headers });
  const bearer = async (changes = {}) => ({ authorization: `Bearer ${await issuer.token(changes)}` });
  const path = `/v7/${projectId}/users/${shown}/connections`;
  const policyOf = async (at: string, port = test.gateway.port) =>
    (await get(at, {}, port)).headers['ratelimit-policy'];
  const usual = '"connections.list-of-user";q=100;w=300';
  const own = '"connections.list-of-user";q=3;w=60';
  const limits = { 'connections.list-of-user': { max: 3, windowSeconds: 60 } };
  // A notice brings the change soon. Without a notice, a gateway may learn of it only after 30 s.
  const soon = { what: 'the change' };

  describe('limits', () => {
    it('change after a notice, and are the usual limits again after the project has removed its own', async () => {
      expect(await policyOf(path)).toBe(usual);
      await tell({ limits });
      await waitFor(async () => (await policyOf(path)) === own, soon);
      expect(await policyOf(`/${projectId.toUpperCase()}/users/${shown}/connections`)).toBe(own);
      expect(await policyOf(`/v7/${randomUUID()}/users/${shown}/connections`)).toBe(usual);
      expect(await policyOf(`/v7/users/${shown}/connections`)).toBe(usual);
      await waitFor(async () => (await get(path)).status === 429);
      await tell({});
      await waitFor(async () => (await policyOf(path)) === usual, soon);
      expect((await get(path)).status).toBe(200);
    });

    it('are counted over all gateways, and an operation has no limit if the project sets null', async () => {
      await tell({ limits: { ...limits, 'connections.count-of-user': null } });
      await waitFor(async () => (await policyOf(path)) === own, soon);
      if (engine === 'containers') {
        issuer.projects.push(settings({ limits }));
        const second = await test.another();
        for (let n = 0; n < 2; n++) await get(path, {}, second.port);
        expectError(await get(path), 'rate-limit/exceeded');
      }
      const count = await get(`/v7/${projectId}/users/${shown}/connections-count`);
      expect(count.status).toBe(200);
      expect(Object.keys(count.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    });
  });

  describe('web origins', () => {
    const preflight = (at: string, origin: string, port = test.gateway.port) =>
      send(port, {
        method: 'OPTIONS',
        path: at,
        headers: { origin, 'access-control-request-method': 'GET' },
      });
    const allowed = (answer: Awaited<ReturnType<typeof get>>) => [
      answer.headers['access-control-allow-origin'],
      answer.headers.vary?.includes('Origin') ?? false,
    ];

    it('let only pages of the listed origins call the project’s addresses', async () => {
      await tell({ webOrigins: [listed, 'https://b.test'] });
      await waitFor(async () => allowed(await get(path, { origin: other }))[0] === undefined, soon);
      for (const at of [path, `/${projectId}/nothing`, `/api/v6/${projectId.toUpperCase()}/v7/connections`]) {
        for (const ask of [
          (origin: string) => get(at, { origin }),
          (origin: string) => preflight(at, origin),
        ]) {
          expect(allowed(await ask(listed))).toEqual([listed, true]);
          expect(allowed(await ask('https://b.test'))).toEqual(['https://b.test', true]);
          for (const one of [other, 'https://app.test.evil.test', 'null']) {
            expect(allowed(await ask(one))).toEqual([undefined, true]);
          }
        }
      }
      expect(allowed(await get(path))).toEqual([undefined, true]);
      for (const at of [`/v7/${randomUUID()}/connections`, '/nothing']) {
        expect(allowed(await preflight(at, other))).toEqual([other, true]);
      }
      expect(allowed(await preflight(`/admin/projects/${projectId}`, other))).toEqual([undefined, true]);
      await tell({});
      await waitFor(async () => allowed(await get(path, { origin: other }))[0] === other, soon);
    });

    it('with a wildcard allow every name directly under the domain (spec#projects-web-origins-wildcard)', async () => {
      await tell({ webOrigins: ['https://*.app.test'] });
      await waitFor(async () => allowed(await get(path, { origin: other }))[0] === undefined, soon);
      for (const one of ['https://a.app.test', 'https://b.app.test']) {
        expect(allowed(await get(path, { origin: one }))).toEqual([one, true]);
        expect(allowed(await preflight(path, one))).toEqual([one, true]);
        expect(allowed(await get('/v7/connections', { ...(await bearer()), origin: one }))[0]).toBe(one);
      }
      for (const one of [
        'https://app.test',
        'https://a.b.app.test',
        'http://a.app.test',
        'https://*.app.test.evil.test',
      ])
        expect(allowed(await get(path, { origin: one }))[0]).toBeUndefined();
    });

    it('replace the server’s list', async () => {
      const gateway = await test.another({ env: { CORS_ORIGINS: other } });
      const from = async (origin: string, at = path) => allowed(await get(at, { origin }, gateway.port))[0];
      expect([await from(listed), await from(other)]).toEqual([undefined, other]);
      await tell({ webOrigins: [listed] });
      await waitFor(async () => (await from(listed)) === listed, soon);
      expect(await from(other)).toBeUndefined();
      expect(await from(other, `/v7/${randomUUID()}/connections`)).toBe(other);
    });

    it('apply to answers under short forms; preflights use the server’s list there', async () => {
      await tell({ webOrigins: [listed] });
      await waitFor(async () => allowed(await get(path, { origin: other }))[0] === undefined, soon);
      const headers = await bearer();
      for (const at of ['/v7/connections', `/v7/users/${shown}/connections`]) {
        for (const origin of [listed, other]) {
          expect(allowed(await preflight(at, origin))).toEqual([origin, true]);
          const answer = await get(at, { ...headers, origin });
          expect(answer.status).toBe(200);
          expect(allowed(answer)).toEqual([origin === listed ? listed : undefined, true]);
        }
      }
    });
  });

  // spec#users-strangers: services show only the data that the gateway allows them to show.
  it('decide whether callers without a token get a card, the whole profile or an error', async () => {
    const profile = `/v7/${projectId}/users/${shown}`;
    const service = await serveEcho(test.bus, getUserByUsername);
    const named = `/v7/${projectId}/users/by-username`;
    const seesAll = async (headers: Record<string, string> = {}) => {
      expect((await get(named, headers)).status).toBe(200);
      return service.seen.at(-1)?.context.seesAll;
    };
    expect(await seesAll()).toBeUndefined();
    await tell({ publicProfiles: 'all' });
    await waitFor(async () => (await seesAll()) === true, soon);
    expect(await seesAll({ authorization: 'Bearer null' })).toBe(true);
    expect(await seesAll(await bearer())).toBeUndefined();
    await tell({ publicProfiles: 'none', publicConnections: false });
    for (const at of [profile, named, path]) {
      await waitFor(async () => (await get(at)).status === 401, soon);
      expect((await get(at, await bearer())).status).toBe(200);
    }
    await tell({});
    await waitFor(async () => (await get(profile)).status === 200, soon);
    expect(await seesAll()).toBeUndefined();
    await service.stop();
  });

  it('require a token for profiles if a newer identity sends a setting that this gateway does not know', async () => {
    issuer.projects.push(settings({ publicProfiles: 'members' as never }));
    const newer = await test.another();
    await waitFor(async () => (await newer.notReady()).length === 0, { what: 'readiness' });
    const profile = `/v7/${projectId}/users/${shown}`;
    expect((await get(profile, {}, newer.port)).status).toBe(401);
    expect((await get(profile, await bearer(), newer.port)).status).toBe(200);
  });

  describe('connection lists that are not public', () => {
    beforeEach(async () => {
      await tell({ publicConnections: false });
      await waitFor(async () => (await get(path)).status !== 200, soon);
    });
    const paths = [
      path,
      `${path}-count`,
      `/v7/users/${shown}/connections`,
      `/v6/users/${shown}/connections-count`,
    ];

    it.each(paths)('require a token of the project: %s', async (at) => {
      const before = lists.seen.length;
      for (const authorization of ['', 'Bearer null']) {
        const answer = await get(at, { authorization });
        expectError(answer, 'auth/unauthorized');
        expect(answer.headers['www-authenticate']).toBe('Bearer');
      }
      expectError(await get(at, await bearer({ projectId: randomUUID() })), 'auth/forbidden');
      const past = Math.floor(Date.now() / 1000) - 60;
      const expired = await bearer({ iat: past - 600, exp: past });
      const isShortV7 = at.startsWith('/v7/users');
      expectError(await get(at, expired), isShortV7 ? 'auth/token-expired' : 'auth/unauthorized');
      expect(lists.seen.length).toBe(before);
      expect((await get(at, await bearer())).status).toBe(200);
    });

    it('are hidden in no other project, and nothing else of this project is hidden', async () => {
      await get(path, await bearer());
      expect(lists.seen.at(-1)?.context).toMatchObject({ projectId, caller: { userId } });
      expect((await get(`/v7/${randomUUID()}/users/${shown}/connections`)).status).toBe(200);
      expect((await get(`/v7/${projectId}/users/${shown}`)).status).toBe(200);
      await tell({});
      await waitFor(async () => (await get(path)).status === 200, soon);
    });
  });

  it('are loaded at start, page by page, and stay in use while identity is away', async () => {
    const many = Array.from({ length: 5 }, () => settings({ projectId: randomUUID(), limits }));
    issuer.projects.push(...many);
    const gateway = await test.another();
    await issuer.stop();
    for (const { projectId: id } of many) {
      expect(await policyOf(`/v7/${id}/users/${shown}/connections`, gateway.port)).toBe(own);
    }
  });

  it('have default values until they are loaded; until then, data that a project may hide is not shown', async () => {
    const token = await bearer();
    await using late = await startTestGateway(engine, { env: { CORS_ORIGINS: other } });
    await serveEcho(late.bus, listUserConnections);
    for (const spec of [getUser, checkUsername]) await serveEcho(late.bus, spec);
    const { port } = late.gateway;
    expect(await late.gateway.notReady()).toContain('project-settings');
    const hidden = await get(path, { origin: other }, port);
    expectError(hidden, 'gateway/unavailable');
    expect(hidden.headers['access-control-allow-origin']).toBe(other);
    expect(hidden.headers['ratelimit-policy']).toBe(usual);
    expectError(await get(`/v7/${projectId}/users/${shown}`, {}, port), 'gateway/unavailable');
    expect((await get(`/v7/${projectId}/users/check-username`, {}, port)).status).toBe(200);
    const known = await serveIssuer(late.bus);
    known.projects.push(settings({ publicConnections: false }));
    expectError(await get(path, {}, port), 'auth/unauthorized');
    expectError(await get(path, token, port), 'auth/unauthorized');
    expect((await get(path, { authorization: `Bearer ${await known.token()}` }, port)).status).toBe(200);
  });

  // spec#projects-deleting
  it('make a deleted project answer 404 to everybody after the notice, also at gateways that start later', async () => {
    await serveEcho(test.bus, signTestingJwt);
    await serveEcho(test.bus, updateProject);
    await serveEcho(test.bus, getProject);
    const token = await bearer();
    const operator = { authorization: 'Bearer operator-secret' };
    const admin = `/admin/projects/${projectId}`;
    const refused: [string, Record<string, string>][] = [
      [path, {}],
      [path, token],
      [path, { authorization: 'Bearer nonsense' }],
      [`/${projectId.toUpperCase()}/connections`, {}],
      [`/${projectId}/api/v7/connections`, token],
      ['/v7/connections', token],
      ['/v7/connections', await bearer({ exp: 1 })],
      [`/v7/users/${shown}/connections`, {}],
    ];
    const change = (headers: Record<string, string>, at: number) =>
      send(at, { method: 'PATCH', path: `/admin/projects/${projectId.toUpperCase()}`, headers });
    const expectDeleted = async (at: number) => {
      await waitFor(async () => (await get(path, {}, at)).status === 404, soon);
      for (const [one, headers] of refused) expectError(await get(one, headers, at), 'project/not-found');
      expectError(await change(operator, at), 'project/not-found');
      expectError(await change({}, at), 'auth/unauthorized');
      expect((await get(admin, operator, at)).status).toBe(200);
      const sign = { method: 'POST', path: `/v7/${projectId}/crypto/sign-testing-jwt` };
      expect((await send(at, sign)).status).toBe(200);
      expect((await get(`/v7/${randomUUID()}/users/${shown}/connections`, {}, at)).status).toBe(200);
    };
    expect((await get('/v7/connections', token)).status).toBe(200);
    expect((await change(operator, test.gateway.port)).status).toBe(200);
    await tell({ isDeleted: true });
    await expectDeleted(test.gateway.port);
    // A notice about an earlier change arrives late.
    await tell({});
    await expectDeleted(test.gateway.port);
    issuer.projects.push(settings({ isDeleted: true }));
    await expectDeleted((await test.another()).port);
  });

  it('refuse users with 503 until the gateway knows which projects are deleted', async () => {
    issuer.projects.push({ projectId: 'nonsense' } as GatewaySettings);
    const late = await test.another();
    expect(await late.notReady()).toEqual(['project-settings']);
    expectError(await get('/v7/connections', await bearer(), late.port), 'gateway/unavailable');
    issuer.projects.length = 0;
    await waitFor(async () => (await get('/v7/connections', await bearer(), late.port)).status === 200);
  });

  describe('that a gateway has not loaded yet', () => {
    const shortPath = `/v7/users/${shown}/connections`;
    /** Starts a gateway that loads these settings only when its first request arrives. */
    const startLate = async (given: Partial<GatewaySettings>) => {
      issuer.projects.push({ projectId: 'nonsense' } as GatewaySettings);
      const late = await test.another();
      expect(await late.notReady()).toEqual(['project-settings']);
      issuer.projects.splice(0, 1, settings(given));
      return late.port;
    };

    it.each([path, shortPath])('make a deleted project answer 404 also without a token: %s', async (at) => {
      const port = await startLate({ isDeleted: true });
      expectError(await get(at, {}, port), 'project/not-found');
    });

    it('allow the project’s web origins under a short form also without a token', async () => {
      const port = await startLate({ webOrigins: [listed] });
      const { status, headers } = await get(shortPath, { origin: other }, port);
      expect([status, headers['access-control-allow-origin']]).toEqual([200, undefined]);
    });
  });

  it('survive a malformed notice', async () => {
    const subject = noticeSubject(test.bus.prefix, projectSettingsNotice);
    await test.bus.broadcast(subject, new TextEncoder().encode('nonsense'));
    await tell({ limits });
    expect(await waitFor(async () => (await policyOf(path)) === own, soon)).toBe(true);
  });

  it('are loaded again, so that missed changes take effect', async () => {
    issuer.projects.push(settings({ limits }));
    const { bus, runtime } = test;
    const heard = await ProjectSettings.open({ bus, log: runtime.log, refreshMs: 0 });
    expect(heard.of(projectId).limits).toEqual(limits);
    issuer.projects.length = 0;
    await waitFor(() => Object.keys(heard.of(projectId).limits).length === 0, { what: 'the whole table' });
    await heard.stop();
  });
});
