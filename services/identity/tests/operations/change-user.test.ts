import { changeUser, eventFilter, getUser, publicUser, userUpdated } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import type { TestIdentity } from '../support/identity.ts';
import { callerOf, signUpUser } from '../support/people.ts';
import { startForSuite } from '../support/suite.ts';

describe.each(handlerEngines())('changes of users by operators on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  startForSuite(engine, (started, project) => {
    [identity, projectId] = [started, project];
  });

  test('are stored, and published in an event without an actor; a request that changes nothing stores and publishes nothing', async () => {
    const { bus } = identity;
    // biome-ignore lint/suspicious/noExplicitAny: each test asserts what it expects of this value
    const events: any[] = [];
    await bus.consume(
      { durable: 'test-changes', subjects: [eventFilter(bus.prefix, userUpdated)] },
      async ({ body }) => {
        events.push(JSON.parse(new TextDecoder().decode(body)));
      },
    );
    const { user } = await signUpUser(bus, projectId);
    const params = { projectId, userId: user.id };
    const change = async (body: object) => (await call(bus, changeUser, { params, body })).body;
    const shown = { ...user, suspension: null };
    expect(await change({})).toEqual(shown);
    expect(await change({ role: user.role, reputation: user.reputation, isVerified: false })).toEqual(shown);
    const changed = await change({ role: 'editor', reputation: 7 });
    expect(changed).toMatchObject({ role: 'editor', reputation: 7, isVerified: false });
    const verified = await change({ isVerified: true });
    const read = await call(bus, getUser, { projectId, params, caller: callerOf(user) });
    expect(verified).toEqual({ ...read.body, suspension: null });

    await waitFor(() => events.length >= 2);
    expect(events.map(({ actorId, aggregate, data }) => [actorId, aggregate.seq, data])).toEqual([
      [null, 2, publicUser.parse(changed)],
      [null, 3, publicUser.parse(verified)],
    ]);
  });

  test('are all made, even if they are requested at the same time', async () => {
    const { bus } = identity;
    const { user } = await signUpUser(bus, projectId);
    const params = { projectId, userId: user.id };
    const changes = [{ role: 'editor' }, { reputation: 3 }, { isVerified: true }];
    const answers = await Promise.all(changes.map((body) => call(bus, changeUser, { params, body })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const read = await call(bus, getUser, { projectId, params, caller: callerOf(user) });
    expect(read.body).toMatchObject({ role: 'editor', reputation: 3, isVerified: true });
  });
});
