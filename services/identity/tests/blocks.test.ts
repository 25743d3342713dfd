import { randomUUID } from 'node:crypto';
import {
  connectionBlocked,
  connectionUnblocked,
  eventSubject,
  type OwnUser,
  suggestUsers,
} from '@kith/contracts';
import { makeEvent } from '@kith/service';
import { availableEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Block, type IdentityStore, openStore } from '../src/store/index.ts';
import { call } from './support/call.ts';
import { startTestIdentity, type TestIdentity } from './support/identity.ts';
import { callerOf, makeProject, signUpUser } from './support/people.ts';
import { dumpStore } from './support/raw-store.ts';

describe.each(availableEngines())('blocks on %s', (engine) => {
  let identity: TestIdentity;
  let store: IdentityStore;
  let projectId: string;
  const [ada, bob, eve] = [randomUUID(), randomUUID(), randomUUID()];
  const block = (blockerId: string, blockedId: string, seq: number, isBlocked = true): Block => ({
    projectId,
    blockerId,
    blockedId,
    isBlocked,
    seq,
  });
  const hidden = async (userId: string) => (await store.blocks.hiddenFrom(projectId, userId)).sort();

  beforeAll(async () => {
    identity = await startTestIdentity(engine);
    store = await openStore(identity.store);
  });
  afterAll(async () => {
    await store.close();
    await identity[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    projectId = randomUUID();
  });

  test('hide each of the two from the other, in their project alone', async () => {
    await store.blocks.keep(block(ada, bob, 1));
    await store.blocks.keep(block(eve, ada, 1));
    expect(await hidden(ada)).toEqual([bob, eve].sort());
    expect(await hidden(bob)).toEqual([ada]);
    expect(await store.blocks.hiddenFrom(randomUUID(), ada)).toEqual([]);
  });

  test('stand for each direction of their own, as the newest event has it, in any order', async () => {
    await store.blocks.keep(block(ada, bob, 3, false));
    await store.blocks.keep(block(ada, bob, 1));
    expect(await hidden(ada)).toEqual([]);
    await store.blocks.keep(block(bob, ada, 2));
    expect(await hidden(ada)).toEqual([bob]);
    await Promise.all([4, 6, 5].map((seq) => store.blocks.keep(block(ada, bob, seq, seq !== 6))));
    await store.blocks.keep(block(bob, ada, 7, false));
    expect([await hidden(ada), await hidden(bob)]).toEqual([[], []]);
  });

  test('are forgotten with a user, on both sides', async () => {
    await store.blocks.keep(block(ada, bob, 1));
    await store.blocks.keep(block(eve, ada, 1));
    await store.blocks.keep(block(eve, bob, 1));
    await store.blocks.forget(projectId, ada);
    expect([await hidden(ada), await hidden(bob), await hidden(eve)]).toEqual([[], [eve], [bob]]);
    const { blocks = [] } = await dumpStore(identity.store);
    const rows = blocks.map((row) => JSON.stringify(row)).filter((row) => row.includes(projectId));
    expect(rows.filter((row) => row.includes(ada))).toEqual([]);
  });

  test('keep the two out of what is suggested to the other, by the events', async () => {
    projectId = await makeProject(identity.bus);
    const add = async (name: string) => (await signUpUser(identity.bus, projectId, { name })).user;
    const [anna, annika] = [await add('Anna'), await add('Annika')];
    const tell = async (spec: typeof connectionBlocked | typeof connectionUnblocked, seq: number) => {
      const event = makeEvent(spec, {
        projectId,
        actorId: anna.id,
        aggregate: { type: 'pair', id: 'anna-annika', seq },
        data: { blockerId: anna.id, blockedId: annika.id, connectionId: null },
        occurredAt: new Date(),
      });
      const { bus } = identity;
      const body = new TextEncoder().encode(JSON.stringify(event));
      await bus.publish({ subject: eventSubject(bus.prefix, event), id: event.id, body });
    };
    const suggestedTo = async (user: OwnUser | null): Promise<string[]> => {
      const caller = user ? { caller: callerOf(user) } : {};
      const answer = await call(identity.bus, suggestUsers, { projectId, query: 'query=ann', ...caller });
      return answer.body.map(({ name }: OwnUser) => name).sort();
    };
    expect(await suggestedTo(anna)).toEqual(['Anna', 'Annika']);
    await tell(connectionBlocked, 1);
    // Each of the two users has a row. MongoDB writes these rows one after the other, so one user may see the change first.
    const bothSee = (count: number) =>
      waitFor(async () => {
        const seen = await Promise.all([suggestedTo(anna), suggestedTo(annika)]);
        return seen.every(({ length }) => length === count);
      });
    await bothSee(1);
    expect(await suggestedTo(anna)).toEqual(['Anna']);
    expect(await suggestedTo(annika)).toEqual(['Annika']);
    expect(await suggestedTo(null)).toEqual(['Anna', 'Annika']);
    await tell(connectionUnblocked, 2);
    await bothSee(2);
    expect(await suggestedTo(annika)).toEqual(['Anna', 'Annika']);
  });
});
