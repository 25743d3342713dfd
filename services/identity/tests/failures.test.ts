import { randomUUID } from 'node:crypto';
import {
  checkUsername,
  createProject,
  deleteUser,
  getJwks,
  getProject,
  getUser,
  getUserByForeignId,
  getUserByUsername,
  listProjects,
  listProjectUsers,
  signIn,
  signUp,
  suggestUsers,
  updateProject,
  updateUser,
  usersByIds,
} from '@kith/contracts';
import type { RunningService, ServiceRuntime } from '@kith/service';
import {
  answerInTime,
  createRuntime,
  createStore,
  fragileStore,
  handlerEngines,
  testSecrets,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startIdentity } from '../src/index.ts';
import { call, callInternal } from './support/call.ts';
import { password } from './support/people.ts';

const projectId = randomUUID();
const userId = randomUUID();
const caller = { userId, sessionId: randomUUID(), role: 'visitor' };
const credentials = { email: 'a@example.org', password };

describe.each(handlerEngines())('identity with its database down, on %s', (engine) => {
  let undo: AsyncDisposableStack;
  let runtime: ServiceRuntime;
  let service: RunningService;

  beforeAll(async () => {
    undo = new AsyncDisposableStack();
    const place = undo.use(await fragileStore(undo.use(await createStore(engine)).config));
    runtime = undo.use(await createRuntime(engine));
    service = undo.use(await startIdentity(runtime, { store: place.config, secrets: testSecrets }));
    expect(await service.notReady()).toEqual([]);
    place.takeDown();
  });
  afterAll(() => undo.disposeAsync());

  // With the real engine, an answer comes only after the service has tried to reach its database for some time. So all requests
  // are sent at the same time.
  test.concurrent.for([
    ['auth', signUp, { projectId, body: credentials }],
    ['auth', signIn, { projectId, body: credentials }],
    ['user', getUser, { projectId, params: { userId } }],
    ['user', updateUser, { projectId, params: { userId }, caller, body: { name: 'x' } }],
    ['user', getUserByUsername, { projectId, caller, query: 'username=ada' }],
    ['user', getUserByForeignId, { projectId, caller, query: 'foreignId=f' }],
    ['user', suggestUsers, { projectId, caller, query: 'query=ada' }],
    ['user', suggestUsers, { projectId, query: 'query=ada' }],
    ['user', checkUsername, { projectId, query: 'username=ada' }],
    ['user', deleteUser, { projectId, params: { userId }, caller }],
    ['project', listProjects, {}],
    ['project', updateProject, { params: { projectId }, body: { name: 'x' } }],
    ['project', listProjectUsers, { params: { projectId } }],
    ['project', createProject, { body: { name: 'x' } }],
    ['project', getProject, { params: { projectId } }],
  ] as const)(
    'answers %s/server-error within the deadline, without the reason',
    async ([feature, spec, given], { expect }) => {
      const { status, body } = await answerInTime((timeoutMs) =>
        call(runtime.bus, spec, { ...given, timeoutMs }),
      );
      expect(status).toBe(500);
      expect(body).toEqual({ error: 'Something went wrong.', code: `${feature}/server-error` });
    },
  );

  test('answers the requests of other services with user/server-error', async () => {
    const text = await callInternal(runtime.bus, usersByIds, { projectId, userIds: [userId] });
    expect(JSON.parse(text)).toEqual({ error: 'Something went wrong.', code: 'user/server-error' });
  });

  test('is not ready, but still returns its public keys', async () => {
    expect(await service.notReady()).toEqual(['store']);
    const { status, body } = await call(runtime.bus, getJwks);
    expect(status).toBe(200);
    expect(body.keys).toHaveLength(1);
  });
});
