import { randomUUID } from 'node:crypto';
import {
  blockUser,
  eventSubject,
  getConnectionStatus,
  listBlocks,
  listReceivedRequests,
  listSentRequests,
  listUserConnections,
  userDeleted,
} from '@kith/contracts';
import { makeEvent, Relay } from '@kith/service';
import { createRuntime, createStore, handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eraseDue, eraseUser } from '../src/eraser.ts';
import { openStore } from '../src/store/index.ts';
import { pairEvents } from '../src/store/keys.ts';
import { unknownUser } from '../src/unknown-user.ts';
import { refusal } from './support/call.ts';
import { connectAt, perform } from './support/pairs.ts';
import { World } from './support/world.ts';

describe.each(handlerEngines())('the end of an account, %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** A new store, and everything else that an eraser needs. */
  async function partsOf(undo: AsyncDisposableStack) {
    const place = undo.use(await createStore(engine));
    const { bus, log, metrics } = undo.use(await createRuntime(engine));
    const store = undo.adopt(await openStore(place.config), (opened) => opened.close());
    const options = { bus, outbox: store.outbox, log, metrics };
    const relay = undo.adopt(new Relay(options), (one) => one.stop());
    return { store, bus, relay, log };
  }

  async function end(userId: string): Promise<void> {
    const event = makeEvent(userDeleted, {
      projectId: world.projectId,
      actorId: userId,
      aggregate: { type: 'user', id: userId, seq: 9 },
      data: { id: userId },
      occurredAt: new Date(),
    });
    const body = new TextEncoder().encode(JSON.stringify(event));
    await world.bus.publish({ subject: eventSubject(world.bus.prefix, event), id: event.id, body });
  }

  const partners = (userId: string) => world.store.erasure.partners({ projectId: world.projectId, userId });
  const gone = (userId: string) =>
    waitFor(async () => {
      const { projectId, store } = world;
      return (
        (await store.profiles.find(projectId, [userId])).size === 0 && (await partners(userId)).length === 0
      );
    });

  it('erases connections, requests, blocks and the profile, and keeps the totals of the other users exact', async () => {
    const person = await world.newPerson();
    const ann = person.id;
    const [friend, asked, asking, blocked, blocking, declined, declining, former] = (await world.newPeople(
      8,
    )) as [string, string, string, string, string, string, string, string];
    const { projectId, store } = world;
    await world.connect(ann, friend);
    await world.connect(friend, asked);
    await world.request(ann, asked);
    await world.request(asking, ann);
    await world.call(blockUser, ann, { params: { userId: blocked } });
    await world.call(blockUser, blocking, { params: { userId: ann } });
    for (const [from, to] of [
      [declined, ann],
      [ann, declining],
    ] as const) {
      await world.request(from, to);
      await perform(store, { projectId, userId: to, otherId: from, action: 'decline' });
    }
    await world.request(ann, former, { message: 'private' });
    await perform(store, { projectId, userId: ann, otherId: former, action: 'withdraw' });
    expect(await partners(ann)).toHaveLength(8);
    const connectionId = (await world.list(ann)).body.connections[0].id;

    await end(ann);
    await gone(ann);
    expect((await world.list(friend)).body).toMatchObject({
      connections: [{ connectedUser: { id: asked } }],
      pagination: { totalCount: 1 },
    });
    for (const [spec, by] of [
      [listReceivedRequests, asked],
      [listSentRequests, asking],
    ] as const) {
      expect((await world.call(spec, by)).body).toMatchObject({
        requests: [],
        pagination: { totalCount: 0 },
      });
    }
    expect((await world.call(listBlocks, blocking)).body).toMatchObject({
      data: [],
      pagination: { totalItems: 0 },
    });
    const none = { established: 0, sent: 0, received: 0, blocks: 0, blockedBy: 0 };
    for (const other of [asking, blocked, blocking, declined, declining, former, ann]) {
      expect(await store.totals(projectId, other)).toEqual(none);
      const all = { after: '', limit: 10 };
      expect(await store.declined({ projectId, userId: other }, all)).toEqual([]);
    }
    const unknown = refusal(404, 'connection/user-not-found');
    const params = { userId: ann };
    expect(await world.request(friend, ann)).toMatchObject(unknown);
    expect(await world.request(ann, friend)).toMatchObject(unknown);
    expect(await world.call(getConnectionStatus, friend, { params })).toMatchObject(unknown);
    expect(await world.call(listUserConnections, null, { params })).toMatchObject(unknown);
    expect(await world.call(blockUser, friend, { params })).toMatchObject(unknown);

    // Returns the last event of the pair, which reports that the pair has ended. Its actor is the user who has ended their
    // account. Earlier events are no longer on the bus.
    const told = async (other: string, count: number) => (await world.eventsOf(ann, other, count)).at(-1);
    expect(await told(friend, 1)).toMatchObject({
      type: 'connection.disconnected',
      actorId: ann,
      data: { connectionId },
    });
    expect(await told(asking, 1)).toMatchObject({ type: 'connection.withdrawn', actorId: ann });
    expect(await told(blocking, 2)).toMatchObject({ type: 'connection.unblocked', actorId: ann });
    for (const [other, seq] of [
      [friend, 3],
      [former, 2],
      [declining, 2],
    ] as const) {
      expect((await world.eventsOf(ann, other, 1)).map(({ aggregate }) => aggregate.seq)).toEqual([seq]);
    }
    // Late events and answers do not bring the profile back.
    await store.profiles.keep({ seq: 8, user: person });
    expect((await store.profiles.find(projectId, [ann])).size).toBe(0);
  });

  it('is handled if its event arrives several times, or if nothing is stored about the user', async () => {
    const [ann, bob] = (await world.newPeople(2)) as [string, string];
    await world.connect(ann, bob);
    await Promise.all([end(ann), end(ann), end(randomUUID())]);
    await gone(ann);
    await end(ann);
    const marker = await world.newPerson();
    await end(marker.id);
    await gone(marker.id);
    expect((await world.list(bob)).body.pagination.totalCount).toBe(0);
  });

  it('continues an interrupted erasure, and later erases what was stored meanwhile', async () => {
    await using undo = new AsyncDisposableStack();
    const parts = await partsOf(undo);
    const { store, log } = parts;
    const errors = vi.spyOn(log, 'error');
    const [projectId, ann, bob] = [randomUUID(), randomUUID(), randomUUID()];
    const at = new Date(Date.now() - 30_000);
    const ended = { projectId, userId: ann, endedAt: at.getTime() };
    await store.profiles.keep({ seq: 1, user: unknownUser(projectId, ann, at) });
    const others = Array.from({ length: 5 }, () => randomUUID());
    for (const otherId of others) await connectAt(store, { projectId, userId: ann, otherId, at });
    await store.profiles.forget(ended, Date.now());
    await store.erasure.mark(ended, ended.endedAt);
    const due = (now: number) => store.erasure.due(now, 10);
    expect(await due(Date.now())).toEqual([ended]);
    let looks = 0;
    await eraseUser(parts, ended, () => looks++ === 2);
    expect(await due(Date.now())).toEqual([ended]);
    expect((await store.totals(projectId, ann)).established).toBe(3);

    const finished = async () => {
      await eraseUser(parts, ended);
      return (await store.erasure.partners(ended)).length === 0;
    };
    await waitFor(finished);
    await eraseUser(parts, ended);
    expect(await due(Date.now())).toEqual([]);
    expect(await due(Date.now() + 60_000)).toEqual([ended]);
    // Two requests found the user before the account ended, but they are stored only now. The events of the second request have
    // the same numbers as the events of the first request, and the last event of the first request is still kept.
    for (let late = 0; late < 2; late++) {
      await perform(store, { projectId, userId: bob, otherId: ann, action: 'request' });
      await waitFor(finished);
      expect(await store.totals(projectId, bob)).toMatchObject({ sent: 0 });
    }
    // If two events have the same number, the relay reports that the database has lost a change. No change was lost here.
    expect(errors).not.toHaveBeenCalled();
    // The clock of the replica that marked the user may be an hour behind. So if `endedAt` is an hour ago, the account may
    // still have ended less than a minute ago.
    await eraseUser(parts, { ...ended, endedAt: Date.now() - 3600_000 });
    expect(await due(Date.now() + 3600_000)).toEqual([ended]);
    await eraseUser(parts, { ...ended, endedAt: Date.now() - 3661_000 });
    expect(await due(Date.now() + 3600_000)).toEqual([]);
  });

  it('starts the next erasure without a pause while more users are waiting for theirs', async () => {
    await using undo = new AsyncDisposableStack();
    const parts = await partsOf(undo);
    const { erasure } = parts.store;
    const projectId = randomUUID();
    const ids = Array.from({ length: 25 }, () => randomUUID());
    for (const userId of ids) await erasure.mark({ projectId, userId }, Date.now());
    await eraseDue(parts, () => false);
    expect(await erasure.due(Date.now(), 100)).toEqual([]);
    expect(await erasure.due(Date.now() + 3600_000, 100)).toHaveLength(25);
  });

  it('keeps the last event of a pair that another replica has removed', async () => {
    await using undo = new AsyncDisposableStack();
    const parts = await partsOf(undo);
    const { store } = parts;
    const [projectId, ann, bob] = [randomUUID(), randomUUID(), randomUUID()];
    const at = new Date();
    const ended = { projectId, userId: ann, endedAt: at.getTime() };
    const { range } = pairEvents(await connectAt(store, { projectId, userId: ann, otherId: bob, at }));
    const partners = await store.erasure.partners(ended);
    await waitFor(async () => {
      await eraseUser(parts, ended);
      return (await store.erasure.partners(ended)).length === 0;
    });
    const told = await store.outbox.published(range, 9);
    expect(told.map(({ event }) => event.type)).toEqual(['connection.disconnected']);
    // Another replica has read the list of pairs before this pair was removed.
    const late = vi.spyOn(store.erasure, 'partners').mockResolvedValueOnce(partners);
    await eraseUser(parts, ended);
    expect(late).toHaveBeenCalledOnce();
    expect(await store.outbox.published(range, 9)).toEqual(told);
  });
});
