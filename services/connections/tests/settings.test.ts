import { randomUUID } from 'node:crypto';
import { updateConnectionSettings } from '@kith/contracts';
import { Relay } from '@kith/service';
import { createRuntime, handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eraseUser } from '../src/eraser.ts';
import { inOrder, type LivePair } from '../src/pair.ts';
import { refusal } from './support/call.ts';
import { storeLongLists } from './support/long-list.ts';
import { World } from './support/world.ts';

const notAllowed = refusal(403, 'connection/not-allowed');

// These tests are about spec#connections-settings and docs/adr/0058.
describe.each(handlerEngines())('the settings of users, %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const set = (userId: string, body: object) => world.call(updateConnectionSettings, userId, { body });

  /** Connects a user with others, as an import does. */
  async function connectWith(userId: string, others: readonly string[]): Promise<void> {
    const { projectId, store } = world;
    const pairs = others.map((other): LivePair => {
      const requestedAt = new Date(1_600_000_000_000);
      return {
        ...{ projectId, ...inOrder(userId, other), seq: 0, state: 'accepted', blocks: [], message: null },
        ...{ requesterId: userId, receiverId: other, connectionId: randomUUID() },
        ...{ requestedAt, respondedAt: requestedAt },
      };
    });
    const outcomes = await store.import(projectId, pairs);
    expect(new Set(outcomes)).toEqual(new Set(['stored']));
  }

  it('allow a request if a common connection is at the end of long lists, and refuse it if there is none', async () => {
    const { projectId } = world;
    const [ada, grace] = (await world.newPeople(2)) as [string, string];
    const [{ established: hers }] = await Promise.all([
      storeLongLists(world.place, { projectId, ownerId: ada }, { established: 1_200 }),
      storeLongLists(world.place, { projectId, ownerId: grace }, { established: 1_300 }),
    ]);
    expect((await set(grace, { requestsFrom: 'common' })).status).toBe(200);
    expect(await world.request(ada, grace)).toMatchObject(notAllowed);
    await connectWith(grace, [hers.at(-1)?.userId ?? '']);
    expect((await world.request(ada, grace)).status).toBe(201);
  });

  it.each([0, 2])(
    'do not count a pending request as a common connection, if the requester has %i connections',
    async (count) => {
      const [ada, grace, both] = (await world.newPeople(3)) as [string, string, string];
      await connectWith(grace, [both]);
      await set(grace, { requestsFrom: 'common' });
      if (count > 0) {
        await connectWith(
          ada,
          Array.from({ length: count }, () => randomUUID()),
        );
      }
      expect((await world.request(ada, both)).status).toBe(201);
      expect(await world.request(ada, grace)).toMatchObject(notAllowed);
    },
  );

  it('refuse a request only after the checks for a request to oneself and for an existing connection', async () => {
    const [ada, grace, alan] = (await world.newPeople(3)) as [string, string, string];
    await set(ada, { requestsFrom: 'nobody' });
    await world.connect(ada, grace);
    expect(await world.request(grace, ada)).toMatchObject(refusal(409, 'connection/already-connected'));
    expect(await world.request(alan, ada)).toMatchObject(notAllowed);
    expect(await world.request(alan, alan)).toMatchObject(refusal(400, 'connection/self-request'));
  });

  it('keep every change if several are made at the same time', async () => {
    const [ada] = (await world.newPeople(1)) as [string];
    const changes = [{ requestsFrom: 'nobody' }, { showsConnections: false }];
    const answers = await Promise.all(changes.map((body) => set(ada, body)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const { projectId, store } = world;
    const both = { requestsFrom: 'nobody', showsConnections: false };
    expect(await store.settings.stored({ projectId, userId: ada })).toEqual(both);
  });

  it('are erased with the account, even if a running request stores them later', async () => {
    const [ada] = (await world.newPeople(1)) as [string];
    const { projectId, store } = world;
    const user = { projectId, userId: ada };
    await using runtime = await createRuntime('embedded');
    const { bus, log, metrics } = runtime;
    const relay = new Relay({ bus, outbox: store.outbox, log, metrics });
    for (const endedAt of [Date.now(), Date.now() - 61_000]) {
      await set(ada, { showsConnections: false });
      expect(await store.settings.stored(user)).not.toBeNull();
      await eraseUser({ store, bus, relay }, { ...user, endedAt });
      expect(await store.settings.stored(user)).toBeNull();
    }
    await relay.stop();
  });
});
