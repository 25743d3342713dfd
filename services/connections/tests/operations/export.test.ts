import { randomUUID } from 'node:crypto';
import {
  blockUser,
  declineConnection,
  exportBlocks,
  exportConnections,
  exportDeclinedRequests,
  exportReceivedRequests,
  exportSentRequests,
  listConnections,
  listReceivedRequests,
  listSentRequests,
} from '@kith/contracts';
import { handlerEngines, readSection } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { perform } from '../support/pairs.ts';
import { World } from '../support/world.ts';

describe.each(handlerEngines())("the export of a user's connections (%s)", (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(engine);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const of = (userId: string, limit: number) => ({ projectId: world.projectId, userId, limit });

  it('returns each list in pages, with the same items as the list operation', async () => {
    const [ann, ...others] = await world.newPeople(9);
    for (const other of others.slice(0, 3)) await connect(ann!, other);
    for (const other of others.slice(3, 6)) await act(ann!, other, 'request');
    for (const other of others.slice(6)) await act(other, ann!, 'request');
    for (const [section, list, key, count] of [
      [exportConnections, listConnections, 'connections', 3],
      [exportSentRequests, listSentRequests, 'requests', 3],
      [exportReceivedRequests, listReceivedRequests, 'requests', 2],
    ] as const) {
      const pages = await readSection(world.bus, section, of(ann!, 2));
      expect(pages.map((page) => page.length)).toEqual(count === 3 ? [2, 1] : [2]);
      expect(pages.flat()).toEqual((await world.call(list, ann!)).body[key]);
    }
  });

  it('returns the blocks that the user has made, but not the blocks against the user', async () => {
    const [ann, bob, carl] = (await world.newUsers(3)) as [string, string, string];
    await world.call(blockUser, ann, { params: { userId: bob } });
    await world.call(blockUser, carl, { params: { userId: ann } });
    const [blocks] = await readSection(world.bus, exportBlocks, of(ann, 10));
    expect(blocks).toMatchObject([{ user: { id: bob }, createdAt: expect.any(String) }]);
    expect(await readSection(world.bus, exportBlocks, of(bob, 10))).toEqual([[]]);
  });

  it('returns declined requests, sent and received, with their messages, in any order of the user ids', async () => {
    // In the three rounds, the user's id sorts before all other ids, between them, and after them. So the user is the lower
    // user of some pairs and the higher user of others.
    for (const at of [0, 3, 7]) {
      const people = (await world.newPeople(8)).sort();
      const me = people[at]!;
      const rest = people.filter((id) => id !== me);
      const expected = [];
      for (const [index, other] of rest.entries()) {
        if (index % 4 === 3) {
          await act(me, other, 'request');
          continue;
        }
        const type = index % 2 === 0 ? 'sent' : 'received';
        const [asker, asked] = type === 'sent' ? [me, other] : [other, me];
        await act(asker, asked, 'request', `Hello ${index}`);
        const { connectionId: id, respondedAt } = await act(asked, asker, 'decline');
        const common = { id, type, message: `Hello ${index}`, createdAt: expect.any(String) };
        expected.push({ ...common, user: { id: other }, respondedAt: respondedAt?.toISOString() });
      }
      const pages = await readSection(world.bus, exportDeclinedRequests, of(me, 2));
      expect(pages.flat()).toMatchObject(expected);
      expect(pages).toHaveLength(Math.ceil(expected.length / 2));
    }
  });

  it('still returns a declined request after its receiver has blocked the requester', async () => {
    const [ann, bob] = (await world.newUsers(2)) as [string, string];
    const { body: request } = await world.request(ann, bob);
    await world.call(declineConnection, bob, { params: { connectionId: request.id } });
    await world.call(blockUser, bob, { params: { userId: ann } });
    const [declined] = await readSection(world.bus, exportDeclinedRequests, of(ann, 10));
    expect(declined).toMatchObject([{ id: request.id, type: 'sent', user: { id: bob } }]);
  });

  it('fails if a profile is missing in the copy and identity cannot be asked', async () => {
    await using alone = await World.start(engine);
    const [ann, bob] = [await alone.newPerson(), randomUUID()];
    await perform(alone.store, {
      projectId: alone.projectId,
      userId: ann.id,
      otherId: bob,
      action: 'request',
    });
    await alone.identity.stop();
    const asked = { projectId: alone.projectId, userId: ann.id, limit: 10 };
    await expect(readSection(alone.bus, exportSentRequests, asked)).rejects.toMatchObject({
      code: 'connection/server-error',
    });
  });

  const act = (userId: string, otherId: string, action: 'request' | 'accept' | 'decline', message?: string) =>
    perform(world.store, {
      projectId: world.projectId,
      userId,
      otherId,
      action,
      ...(message === undefined ? {} : { message }),
    });
  const connect = async (one: string, other: string) => {
    await act(one, other, 'request', 'Hi');
    await act(other, one, 'accept');
  };
});
