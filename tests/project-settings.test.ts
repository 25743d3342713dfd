// Starts at most 2 platforms and 9 processes.
import { createLogger } from '@kith/base';
import { NatsBus } from '@kith/bus/nats';
import {
  availableEngines,
  handlerEngines,
  layLine,
  startEngines,
  startPlatform,
  type TestPlatform,
  waitFor,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorToken, startAuthWorld } from './support/auth-world.ts';
import { expectCounted } from './support/expect-counted.ts';
import { type Answer, http } from './support/http.ts';
import { startSecondGateway } from './support/second-gateway.ts';

const listed = 'https://app.example.org';
const other = 'https://other.example.org';
/**
 * How long the tests wait until the gateways know of a change. The contract allows one second. The tests wait ten times as
 * long, because the machine may be busy. A gateway that gets no notice asks for changes only every thirty seconds.
 */
const within = { timeoutMs: 10_000, what: 'the change' };

// spec#projects, docs/adr/0013.
describe.each(handlerEngines())('settings of a project (%s)', (engine) => {
  let platform: TestPlatform;
  /** The addresses of the gateways. On real engines there are two gateways. */
  let urls: string[];
  let internalUrls: string[];
  const env = { RATE_LIMIT_SCALE: '1' };
  const closing = new AsyncDisposableStack();
  beforeAll(async () => {
    platform = closing.use(await startPlatform({ engine, env }));
    urls = [platform.url];
    internalUrls = [...platform.internalUrls];
    if (engine !== 'containers') return;
    const second = closing.use(await startSecondGateway(platform, env));
    urls.push(second.url);
    internalUrls.push(second.internalUrl);
  }, 60_000);
  afterAll(() => closing.disposeAsync());

  const patch = (id: string, body: unknown) =>
    http(platform.url, {
      method: 'PATCH',
      path: `/admin/projects/${id}`,
      token: platform.operatorToken,
      body,
    });
  /** Waits until `holds` returns true for the answer of every gateway. */
  const everywhere = async (path: string, holds: (answer: Answer) => boolean, headers = {}) => {
    for (const url of urls) await waitFor(async () => holds(await http(url, { path, headers })), within);
  };

  it('a changed limit takes effect on every gateway, and the gateways share their counts', async () => {
    const { id } = await platform.createProject();
    const bystander = await platform.createProject('Other');
    const path = `/v7/${id}/users/check-username?username=someone`;
    const tells = (quota: number) => (answer: Answer) =>
      answer.headers['ratelimit-policy'] === `"identity.check-username";q=${quota};w=300`;
    await everywhere(path, tells(100));
    const set = (max: number) =>
      patch(id, { limits: { 'identity.check-username': { max, windowSeconds: 300 } } });
    expect((await set(2)).status).toBe(200);
    await everywhere(path, tells(2));
    // The requests above have already used up the new limit.
    await everywhere(path, ({ status }) => status === 429);
    for (const url of urls) {
      const { status, headers } = await http(url, { path: path.replace(id, bystander.id) });
      expect([status, headers['x-ratelimit-limit']]).toEqual([200, '100']);
    }
    await set(5_000);
    await everywhere(path, tells(5_000));
    let clients = 6;
    await expectCounted(internalUrls, async () => {
      const client = { path, from: `127.0.0.${++clients}` };
      for (let left = 4_999; left > 4_880; left--) {
        const { status, headers } = await http(urls[left % urls.length] ?? platform.url, client);
        expect([status, headers['x-ratelimit-remaining']]).toEqual([200, String(left)]);
      }
    });
    await patch(id, { limits: { 'identity.check-username': null } });
    await everywhere(path, ({ headers }) => headers['ratelimit-policy'] === undefined);
    await patch(id, { limits: {} });
    await everywhere(path, tells(100));
  }, 60_000);

  it('a limit of an unknown operation is refused and changes nothing', async () => {
    const { id } = await platform.createProject();
    const limits = { 'identity.check-username': { max: 9, windowSeconds: 300 } };
    await patch(id, { limits });
    const answer = await patch(id, { limits: { ...limits, 'identity.fly': { max: 1, windowSeconds: 1 } } });
    const error = 'limits must name operations of this API; no operation is called identity.fly.';
    const refusal = { error, code: 'project/invalid-body', field: 'limits' };
    expect([answer.status, answer.json()]).toEqual([400, refusal]);
    const long = await patch(id, { limits: { ['x'.repeat(5_000)]: null } });
    expect(long.json()).toMatchObject({ error: expect.stringContaining(` ${'x'.repeat(64)}.`) });
    const path = `/v7/${id}/users/check-username?username=someone`;
    await everywhere(path, ({ headers }) => headers['x-ratelimit-limit'] === '9');
  });

  it('if a project lists origins, CORS allows only pages of these origins', async () => {
    const { id } = await platform.createProject();
    const path = `/v7/${id}/users/check-username?username=someone`;
    const origin = ({ headers }: Answer) => headers['access-control-allow-origin'];
    await everywhere(path, (answer) => origin(answer) === other, { origin: other });
    await patch(id, { webOrigins: [listed] });
    await everywhere(path, (answer) => origin(answer) === undefined, { origin: other });
    for (const url of urls) {
      for (const from of [listed, other]) {
        const headers = { origin: from, 'access-control-request-method': 'GET' };
        for (const method of ['GET', 'OPTIONS']) {
          const answer = await http(url, { method, path, headers });
          expect(answer.status).toBe(method === 'GET' ? 200 : 204);
          expect(origin(answer)).toBe(from === listed ? listed : undefined);
          expect(answer.headers.vary).toContain('Origin');
        }
      }
    }
    await patch(id, { webOrigins: [] });
    await everywhere(path, (answer) => origin(answer) === other, { origin: other });
  });

  it.each([{ publicConnections: false }, { publicProfiles: false }])(
    'the setting restricts connection lists to the project’s users: %j',
    async (setting) => {
      const { id } = await platform.createProject();
      const foreign = await platform.createUser((await platform.createProject('Other')).id);
      const [ada, grace] = [await platform.createUser(id), await platform.createUser(id)];
      await platform.connect(ada, grace);
      const paths = [
        `/v7/${id}/users/${ada.id}/connections`,
        `/v7/${id}/users/${ada.id}/connections-count`,
        `/v7/users/${ada.id}/connections`,
      ];
      for (const path of paths) await everywhere(path, ({ status }) => status === 200);
      await patch(id, setting);
      for (const path of paths) {
        await everywhere(path, ({ status }) => status === 401);
        for (const url of urls) {
          expect((await http(url, { path })).json()).toEqual({
            error: 'No token was sent. Send one as Authorization: Bearer <token>.',
            code: 'auth/unauthorized',
          });
          const refused = await http(url, { path, token: foreign.accessToken });
          expect([refused.status, refused.json()]).toMatchObject([403, { code: 'auth/forbidden' }]);
          const seen = await http(url, { path, token: grace.accessToken });
          expect(seen.status).toBe(200);
          if (!path.endsWith('count'))
            expect(seen.json()).toMatchObject({ connections: [{ connectedUser: { id: grace.id } }] });
        }
      }
      const profile = await http(platform.url, { path: `/v7/${id}/users/${ada.id}` });
      expect(profile.status).toBe('publicProfiles' in setting ? 401 : 200);
      await patch(id, { publicConnections: true, publicProfiles: true });
      for (const path of paths) await everywhere(path, ({ status }) => status === 200);
    },
  );

  it.runIf(engine === 'containers')('a gateway that starts later knows the settings', async () => {
    const { id } = await platform.createProject();
    await patch(id, { webOrigins: [listed], publicConnections: false });
    await using late = await startSecondGateway(platform, env);
    const ada = await platform.createUser(id);
    const answer = await http(late.url, {
      path: `/v7/${id}/users/${ada.id}/connections`,
      headers: { origin: other },
    });
    expect(answer.status).toBe(401);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe.runIf(availableEngines().includes('containers'))('settings over a bus that breaks', () => {
  it('a gateway that was disconnected gets changed settings as soon as it is connected again', async () => {
    await using world = await startAuthWorld('containers');
    await using engines = await startEngines();
    await using way = await layLine(new URL(engines.natsUrl));
    const { id } = await world.createProject();
    const { prefix } = world.runtime.bus;
    const log = createLogger({ name: 'test', level: 'silent' });
    await using closing = new AsyncDisposableStack();
    const bus = await NatsBus.connect({ url: `nats://${way.address}`, name: 'gateway', prefix, log });
    closing.defer(() => bus.close());
    const gateway = await world.anotherGateway(bus);
    const origin = async () => {
      const answer = await http(gateway.url, { path: `/v7/${id}/auth/sessions`, headers: { origin: other } });
      return answer.headers['access-control-allow-origin'];
    };
    expect(await origin()).toBe(other);
    way.cut();
    await waitFor(() => !bus.isConnected(), { what: 'the break' });
    await http(world.url, {
      method: 'PATCH',
      path: `/admin/projects/${id}`,
      token: operatorToken,
      body: { webOrigins: [listed] },
    });
    expect(await origin()).toBe(other);
    way.mend();
    await waitFor(() => bus.isConnected(), { what: 'the connection' });
    await waitFor(async () => (await origin()) === undefined, within);
  });
});
