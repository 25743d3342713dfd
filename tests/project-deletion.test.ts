// Starts at most 2 platforms and 8 processes.
import { randomUUID } from 'node:crypto';
import { startCollections } from '@kith/collections';
import { startConnections } from '@kith/connections';
import {
  changeUser,
  createProject,
  deleteProject,
  eraseProjectCollections,
  eraseProjectConnections,
  eraseProjectNotifications,
  getProject,
  getRootCollection,
  internalSubject,
  listNotifications,
  methodsOf,
  operations,
  type Project,
  requestConnection,
  type Session,
  signUp,
} from '@kith/contracts';
import { startIdentity } from '@kith/identity';
import { startNotifications } from '@kith/notifications';
import { codesOf } from '@kith/openapi';
import { ask } from '@kith/service';
import {
  callerOf,
  callOperation,
  createRuntime,
  createStore,
  dumpStore,
  EventSource,
  handlerEngines,
  startPlatform,
  type TestPlatform,
  type TestUser,
  testSecrets,
  waitFor,
} from '@kith/testing';
import { describe, it, vi } from 'vitest';
import { everythingOf, openBusOf } from './support/everything.ts';
import { startSecondGateway } from './support/second-gateway.ts';
import { startStorageHere } from './support/storage-service.ts';

const words = ['zqproject', 'zqname', 'zqmessage', 'zqfolder', 'zqentity', 'zqreason'];
const settleMs = 500;

/**
 * The operations that the gateway refuses if their project is deleted. These are all operations under a project, except the operations
 * with `answersDeleted`.
 */
const refused = operations.filter(
  ({ answersDeleted, scope, path }) =>
    !answersDeleted && (scope === 'project' || path.includes('/:projectId')),
);

/** Makes one call for each operation of `refused`. The token is valid, but the parameters name nothing that exists. */
function callsOf(projectId: string, user: TestUser, operatorToken: string): [string, string, object][] {
  const calls = refused.flatMap((spec) => {
    const path = spec.path.replace(':projectId', projectId).replaceAll(/:\w+/g, () => randomUUID());
    const token = spec.auth === 'operator' ? operatorToken : user.accessToken;
    const address = spec.scope === 'project' ? `/v7/${projectId}${path}` : path;
    return methodsOf(spec).map((method): [string, string, object] => [
      method,
      address,
      method === 'GET' ? { token } : { token, body: {} },
    ]);
  });
  const own = { token: user.accessToken };
  return [
    ...calls,
    ['POST', `/v7/${projectId}/auth/sign-in`, { body: { email: user.email, password: user.password } }],
    ['POST', `/v7/${projectId}/auth/request-new-access-token`, { body: { refreshToken: user.refreshToken } }],
    ['GET', `/v7/${projectId.toUpperCase()}/users/${user.id}`, {}],
    ['GET', `/${projectId}/connections`, {}],
    ['GET', '/v7/connections', own],
    ['POST', `/v7/users/${randomUUID()}/connection`, { ...own, body: {} }],
  ];
}

// Erasures wait for sweeps. So these tests run at the same time.
describe.concurrent.each(handlerEngines())('a project that is deleted (%s)', (engine) => {
  it('a deleted project is refused immediately, and its data disappears from all databases, events and dead letters', async ({
    expect,
  }) => {
    await using platform = await startPlatform({ engine });
    const { operatorToken: token } = platform;
    const call = <T>(
      method: string,
      path: string,
      options: object = {},
      at: TestPlatform | undefined = platform,
    ) => at.call<T>(method, path, options);
    const stays = await platform.createUser(platform.project.id, { name: 'Stays' });
    const { id } = await platform.createProject('zqproject');
    const ada = await platform.createUser(id, { name: 'zqname' });
    const grace = await platform.createUser(id);
    await platform.connect(ada, grace, 'zqmessage');
    const folder = await platform.createCollection(ada, 'zqfolder');
    const entity = { token: ada.accessToken, body: { entityId: 'zqentity' } };
    await call('POST', `/v7/${id}/collections/${folder.id}/entities`, entity);
    const third = await platform.createUser(id);
    const suspension = { token, body: { reason: 'zqreason', until: '2999-01-01T00:00:00Z' } };
    await call('POST', `/admin/projects/${id}/users/${third.id}/suspend`, suspension);
    await using bus = await openBusOf(platform);
    const poisoned = { durable: 'test-poisoned', subjects: [`${bus.prefix}.event.>`], maxDeliveries: 1 };
    await bus.consume(poisoned, async () => {
      throw new Error('poison');
    });
    await waitFor(async () => (await bus.deadLetters(poisoned.durable)).length > 5, { what: 'dead letters' });
    const before = await everythingOf(platform);
    for (const word of words) expect(before, word).toContain(word);
    const stream = await EventSource.open(`${platform.url}/v7/${id}/app-notifications/stream`, {
      token: grace.accessToken,
    });

    const deleting = await call('DELETE', `/admin/projects/${id}`, { token });
    expect(deleting).toEqual({ id, status: 'deleting' });
    const refusal = (method: string, path: string, options: object = {}, at = platform.url) =>
      fetch(`${at}${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          ...('token' in options ? { authorization: `Bearer ${options.token}` } : {}),
        },
        ...('body' in options ? { body: JSON.stringify(options.body) } : {}),
      }).then(async (response) => [response.status, ((await response.json()) as { code: string }).code]);
    const gone = [404, 'project/not-found'];
    await waitFor(async () => (await refusal('GET', `/v7/${id}/users/${ada.id}`))[1] === 'project/not-found');
    for (const spec of refused) expect(codesOf(spec)).toContain('project/not-found');
    for (const [method, path, options] of callsOf(id, ada, token)) {
      expect([method, path, ...(await refusal(method, path, options))]).toEqual([method, path, ...gone]);
    }
    // This address names no project, so the platform looks for the user's project. By now, the user may already be erased. So
    // the code of the answer can differ, and only the status is checked.
    const [status] = await refusal('GET', `/v7/users/${ada.id}/connections`);
    expect(status).toBe(404);
    expect(await refusal('POST', `/v7/${id}/crypto/sign-testing-jwt`, { body: {} })).toEqual([
      400,
      'crypto/missing-params',
    ]);
    expect(await refusal('GET', `/admin/projects/${id}/users`)).toEqual([401, 'auth/unauthorized']);
    const project = await call<Project>('GET', `/admin/projects/${id}`, { token });
    expect(project).toMatchObject({ name: 'zqproject', deletion: { usersLeft: expect.any(Number) } });
    expect(await call('DELETE', `/admin/projects/${id}`, { token })).toEqual(deleting);
    const own = await call('GET', `/v7/${stays.projectId}/users/${stays.id}`, { token: stays.accessToken });
    expect(own).toMatchObject({ name: 'Stays' });
    await waitFor(() => stream.isEnded, { what: 'the end of the stream' });
    if (platform.engines) {
      await using second = await startSecondGateway(platform);
      await waitFor(async () => {
        const [, code] = await refusal('GET', `/v7/${id}/users/${ada.id}`, {}, second.url);
        return code === 'project/not-found';
      });
    }

    let left: string[] = [];
    // The project's own name stays until the deletion ends. The deletion waits for requests that are under way.
    const erased = words.filter((word) => word !== 'zqproject');
    const isGone = async () => {
      const everything = await everythingOf(platform);
      left = erased.filter((word) => everything.includes(word));
      return left.length === 0;
    };
    const patience = { timeoutMs: 45_000, everyMs: 500, what: 'the erasure' };
    await waitFor(isGone, patience).catch(() => expect(left).toEqual([]));
  }, 120_000);
});

describe.concurrent.each(handlerEngines())('the erasure of a project (%s)', (engine) => {
  it('the erasure goes on after crashes and while a service is missing, until it is complete', async ({
    expect,
  }) => {
    await using runtime = await createRuntime(engine);
    await using stores = new AsyncDisposableStack();
    const store = async () => stores.use(await createStore(engine)).config;
    const at = {
      identity: await store(),
      connections: await store(),
      collections: await store(),
      notifications: await store(),
      storage: await store(),
    };
    const { bus } = runtime;
    const requests = vi.spyOn(bus, 'request');
    const times = { sweepEveryMs: 50, erasureTimes: { everyMs: 50, settleMs } };
    const identity = () => startIdentity(runtime, { store: at.identity, secrets: testSecrets, ...times });
    let running = await identity();
    await using collections = await startCollections(runtime, { store: at.collections });
    await using _storage = await startStorageHere(runtime, at.storage);
    await using _notifications = await startNotifications(runtime, { store: at.notifications });
    let connections = await startConnections(runtime, { store: at.connections });

    const { body: project } = await callOperation(bus, createProject, { body: { name: 'zqproject' } });
    const projectId = project.id;
    const people: Session['user'][] = [];
    for (let count = 0; count < 5; count++) {
      const body = { email: `zq${count}@example.org`, password: 'long enough', name: 'zqname' };
      people.push((await callOperation(bus, signUp, { projectId, body })).body.user);
    }
    const [ada, grace] = people as [Session['user'], Session['user']];
    const caller = callerOf(ada.id, ada.role);
    const asked = { projectId, caller, params: { userId: grace.id }, body: { message: 'zqmessage' } };
    expect((await callOperation(bus, requestConnection, asked)).status).toBe(201);
    await callOperation(bus, getRootCollection, { projectId, caller });
    await waitFor(async () => {
      const given = { projectId, caller: callerOf(grace.id, grace.role) };
      return (await callOperation(bus, listNotifications, given)).body.data?.length === 1;
    });

    await connections.stop();
    const params = { projectId };
    const remove = () => callOperation(bus, deleteProject, { params });
    const read = async () =>
      (await callOperation(bus, getProject, { params })).body as Project & { code?: string };
    expect((await remove()).status).toBe(202);
    // Identity starts again, as after a crash, and goes on with its unfinished work.
    await running.stop();
    running = await identity();
    await waitFor(async () => (await read()).deletion?.usersLeft === 0, { what: 'the end of the users' });
    for (const operation of [eraseProjectCollections, eraseProjectNotifications]) {
      const context = () => ({ requestId: 'test', deadline: Date.now() + 5_000 });
      const isDone = async () => (await ask(bus, operation, params, context())).isDone;
      await waitFor(isDone, { what: operation.name });
    }
    // Now only the connections service is missing. Identity tries to continue the erasure in rounds, and asks this service once
    // in each round. So after the second request, a whole round has passed.
    requests.mockClear();
    const asking = internalSubject(bus.prefix, eraseProjectConnections);
    const timesAsked = () => requests.mock.calls.filter(([subject]) => subject === asking).length;
    await waitFor(() => timesAsked() >= 2, { what: 'a round of the erasure' });
    expect((await read()).deletion).toEqual({ since: expect.any(String), usersLeft: 0 });
    const change = { params: { projectId, userId: randomUUID() }, body: { role: 'x' } };
    expect((await callOperation(bus, changeUser, change)).status).toBe(404);

    connections = await startConnections(runtime, { store: at.connections });
    await waitFor(async () => (await read()).code === 'project/not-found', {
      timeoutMs: 30_000,
      what: 'the end',
    });
    expect((await remove()).body.code).toBe('project/not-found');
    for (const [name, config] of Object.entries(at)) {
      const held = JSON.stringify(await dumpStore(config));
      for (const word of ['zqproject', 'zqname', 'zqmessage']) expect(held, name).not.toContain(word);
    }
    await collections.stop();
    await connections.stop();
    await running.stop();
  }, 90_000);
});
