import { publicUser, updateUser, userCreated } from '@kith/contracts';
import { createRuntime, createStore, handlerEngines, testSecrets, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startIdentity } from '../src/index.ts';
import { openStore } from '../src/store/index.ts';
import { userEvent } from '../src/user-events.ts';
import { call } from './support/call.ts';
import { collectEvents } from './support/events.ts';
import { startTestIdentity, type TestIdentity } from './support/identity.ts';
import { callerOf, makeProject, signUpUser } from './support/people.ts';
import { makeUser } from './support/users.ts';

describe.each(handlerEngines())('events on %s', (engine) => {
  let identity: TestIdentity;

  beforeAll(async () => {
    identity = await startTestIdentity(engine);
  });
  afterAll(() => identity[Symbol.asyncDispose]());

  test('report each change once, with the public profile; their seq has no gaps', async () => {
    const { bus } = identity;
    const events = await collectEvents(bus);
    const projectId = await makeProject(bus);
    const { user } = await signUpUser(bus, projectId, { name: 'Ada', username: 'ada' });
    const caller = callerOf(user);
    const patch = (body: unknown) =>
      call(bus, updateUser, { projectId, params: { userId: user.id }, caller, body });
    const changed = (await patch({ name: 'Ada L.' })).body;
    expect((await patch({ name: 'Ada L.', username: 'ada', role: 'admin' })).body).toEqual(changed);
    expect((await patch({})).body).toEqual(changed);
    const last = (await patch({ bio: 'Analyst' })).body;

    await waitFor(() => events.length >= 3);
    const bySeq = events.toSorted((a, b) => a.aggregate.seq - b.aggregate.seq);
    const expected = (type: string, seq: number, data: unknown, occurredAt: string) => ({
      id: expect.any(String),
      type,
      version: 1,
      projectId,
      occurredAt,
      actorId: user.id,
      aggregate: { type: 'user', id: user.id, seq },
      data: publicUser.parse(data),
    });
    expect(bySeq).toEqual([
      expected('user.created', 1, user, user.createdAt),
      expected('user.updated', 2, changed, changed.updatedAt),
      expected('user.updated', 3, last, last.updatedAt),
    ]);
  });

  test('are published at the next start if the process died before it published them', async () => {
    await using place = await createStore(engine);
    await using runtime = await createRuntime(engine);
    const events = await collectEvents(runtime.bus);
    const user = makeUser();
    const event = userEvent(userCreated, user);
    const dying = await openStore(place.config);
    await dying.users.add(user, event);
    await dying.close();
    await using _service = await startIdentity(runtime, { store: place.config, secrets: testSecrets });
    await waitFor(() => events.length > 0);
    expect(events).toEqual([event]);
  });
});
