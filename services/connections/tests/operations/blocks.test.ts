import { randomUUID } from 'node:crypto';
import {
  blockUser,
  countUserConnections,
  getConnectionStatus,
  listBlocks,
  listReceivedRequests,
  listSentRequests,
  listUserConnections,
  unblockUser,
} from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { refusal } from '../support/call.ts';
import { perform } from '../support/pairs.ts';
import { threePeopleForEach } from '../support/suite.ts';
import type { World } from '../support/world.ts';

describe.each(handlerEngines())('blocks, %s', (engine) => {
  let world: World;
  let ann: string;
  let bob: string;
  let eve: string;
  threePeopleForEach(engine, (started, people) => {
    world = started;
    [ann, bob, eve] = people;
  });

  const block = (by: string, userId: string) => world.call(blockUser, by, { params: { userId } });
  const unblock = (by: string, userId: string) => world.call(unblockUser, by, { params: { userId } });
  const statusOf = async (by: string, userId: string) =>
    (await world.call(getConnectionStatus, by, { params: { userId } })).body.status;
  const listed = async (by: string, query = '') => (await world.call(listBlocks, by, { query })).body;
  const notAllowed = refusal(403, 'connection/not-allowed');

  it('are answered without a body, and stop requests from both users until the block is removed', async () => {
    const answer = await block(ann, bob.toUpperCase());
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await world.request(ann, bob)).toMatchObject(notAllowed);
    expect(await world.request(bob, ann)).toMatchObject(notAllowed);
    expect(await statusOf(bob, ann)).toBe('none');
    expect((await unblock(bob, ann)).status).toBe(204);
    expect(await world.request(bob, ann)).toMatchObject(notAllowed);
    const taken = await unblock(ann, bob);
    expect([taken.status, taken.text]).toEqual([204, '']);
    expect((await world.request(bob, ann)).status).toBe(201);
  });

  it('refuse requests until both users have removed their block', async () => {
    await Promise.all([block(ann, bob), block(bob, ann)]);
    for (const [by, other] of [
      [ann, bob],
      [bob, ann],
    ] as const) {
      expect((await listed(by)).data).toMatchObject([{ user: { id: other } }]);
    }
    await unblock(ann, bob);
    expect(await world.request(ann, bob)).toMatchObject(notAllowed);
    await unblock(bob, ann);
    expect((await world.request(ann, bob)).status).toBe(201);
  });

  it('are refused if the target is the caller or does not exist', async () => {
    for (const set of [block, unblock]) {
      expect(await set(ann, ann)).toMatchObject(refusal(400, 'connection/self-block'));
      for (const userId of [randomUUID(), 'nobody']) {
        expect(await set(ann, userId)).toMatchObject(refusal(404, 'connection/user-not-found'));
      }
    }
  });

  it('change nothing and publish no event when made or removed again', async () => {
    await world.connect(ann, bob);
    const connectionId = (await world.list(ann)).body.connections[0].id;
    await Promise.all(Array.from({ length: 5 }, () => block(ann, bob)));
    const before = await listed(ann);
    await block(ann, bob);
    expect(await listed(ann)).toEqual(before);
    await unblock(ann, bob);
    expect((await unblock(ann, bob)).status).toBe(204);
    const events = await world.eventsOf(ann, bob, 4);
    const data = { blockerId: ann, blockedId: bob };
    expect(events.slice(2)).toMatchObject([
      { type: 'connection.blocked', actorId: ann, aggregate: { seq: 3 }, data: { ...data, connectionId } },
      {
        type: 'connection.unblocked',
        actorId: ann,
        aggregate: { seq: 4 },
        data: { ...data, connectionId: null },
      },
    ]);
    expect(events).toHaveLength(4);
  });

  it.each(['pending', 'accepted'])(
    'end a pair that is %s, and remove it from lists and totals',
    async (state) => {
      if (state === 'accepted') await world.connect(ann, bob);
      else await world.request(ann, bob);
      await block(bob, ann);
      for (const by of [ann, bob]) {
        expect((await world.list(by)).body.pagination.totalCount).toBe(0);
        for (const spec of [listSentRequests, listReceivedRequests]) {
          const { body } = await world.call(spec, by);
          expect([body.requests, body.pagination.totalCount]).toEqual([[], 0]);
        }
      }
      await unblock(bob, ann);
      expect([await statusOf(ann, bob), await statusOf(bob, ann)]).toEqual(['none', 'none']);
    },
  );

  it('do not let the requester ask again after a declined request', async () => {
    const { projectId, store } = world;
    await world.request(ann, bob);
    await perform(store, { projectId, userId: bob, otherId: ann, action: 'decline' });
    await block(ann, bob);
    expect(await world.request(ann, bob)).toMatchObject(notAllowed);
    await unblock(ann, bob);
    expect(await world.request(ann, bob)).toMatchObject(refusal(409, 'connection/request-declined'));
    expect((await world.request(bob, ann)).status).toBe(201);
  });

  it('are listed, newest first, by page and by cursor', async () => {
    const others = await world.newPeople(5);
    for (const other of others) await block(ann, other);
    const all = await listed(ann);
    expect(all.pagination).toEqual({ page: 1, pageSize: 20, totalPages: 1, totalItems: 5, hasMore: false });
    expect(all.data.map(({ user }: { user: { id: string } }) => user.id).sort()).toEqual(others.sort());
    const times = all.data.map(({ createdAt }: { createdAt: string }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
    const [first] = all.data;
    const [profile] = (await world.store.profiles.find(world.projectId, [first.user.id])).values();
    expect(first).toEqual({ id: expect.any(String), user: profile, createdAt: expect.any(String) });
    const page = await world.call(listBlocks, ann, { query: 'limit=3' });
    const next = /^<\?(.*)>/.exec(page.headers.Link!)![1]!;
    const rest = await world.call(listBlocks, ann, { query: next });
    expect([...page.body.data, ...rest.body.data]).toEqual(all.data);
    expect(rest.body.pagination).toEqual({
      page: 2,
      pageSize: 3,
      totalPages: 2,
      totalItems: 5,
      hasMore: false,
    });
    expect((await listed(others[0]!)).data).toEqual([]);
    const refused = await world.call(listBlocks, others[0]!, { query: next });
    expect(refused.body).toMatchObject({ code: 'connection/invalid-query', field: 'cursor' });
  });

  describe("a third person's list", () => {
    const listOf = (userId: string, by: string | null, query = '') =>
      world.call(listUserConnections, by, { params: { userId }, query });
    const seen = async (by: string | null, query = '') => {
      const { body } = await listOf(eve, by, query);
      const { count } = (await world.call(countUserConnections, by, { params: { userId: eve } })).body;
      const ids: string[] = body.connections.map(
        ({ connectedUser }: { connectedUser: { id: string } }) => connectedUser.id,
      );
      return { ids, total: body.pagination.totalCount, count };
    };
    let friends: string[];
    beforeEach(async () => {
      friends = await world.newPeople(6);
      for (const friend of friends) await world.connect(eve, friend);
      // Entries of the same millisecond are in the order of their ids.
      friends = (await seen(null)).ids;
    });

    it('leaves out users who block the caller or are blocked by the caller, in rows, totals, pages and cursors', async () => {
      await block(ann, friends[1]!);
      await block(friends[4]!, ann);
      await block(ann, bob);
      const rest = friends.filter((_, at) => at !== 1 && at !== 4);
      expect(await seen(ann)).toEqual({ ids: rest, total: 4, count: 4 });
      expect((await seen(ann, 'page=2&limit=3')).ids).toEqual(rest.slice(3));
      expect((await listOf(eve, ann, 'limit=2')).body.pagination).toMatchObject({
        totalPages: 2,
        hasNextPage: true,
      });
      const walked: string[] = [];
      for (let query: string | undefined = 'limit=1'; query; ) {
        const { body, headers } = await listOf(eve, ann, query);
        walked.push(body.connections[0].connectedUser.id);
        query = /^<\?(.*)>/.exec(headers.Link ?? '')?.[1];
      }
      expect(walked).toEqual(rest);
      expect(await seen(friends[1]!)).toMatchObject({ total: 6, count: 6 });
      for (const by of [null, bob, eve]) expect(await seen(by)).toEqual({ ids: friends, total: 6, count: 6 });
      await unblock(ann, friends[1]!);
      expect(await seen(ann)).toMatchObject({ total: 5, count: 5 });
    });

    it.each(['blocks', 'is blocked by'])('is empty if the caller %s its owner', async (side) => {
      await (side === 'blocks' ? block(ann, eve) : block(eve, ann));
      expect(await seen(ann)).toEqual({ ids: [], total: 0, count: 0 });
    });
  });
});
