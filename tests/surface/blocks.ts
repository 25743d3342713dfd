import { randomUUID } from 'node:crypto';
import {
  blockUser,
  countConnections,
  countUserConnections,
  getConnectionStatus,
  listBlocks,
  listReceivedRequests,
  listUserConnections,
  publicUser,
  requestConnection,
  suggestUsers,
  unblockUser,
} from '@kith/contracts';
import { type TestUser, waitFor } from '@kith/testing';
import { expect, it } from 'vitest';
import { refusesStrangers, refusesTwice } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

const about = (by: TestUser, other: { id: string }) => ({
  token: by.accessToken,
  params: { userId: other.id },
});

export const blocks = surfaceSuite('blocks', (world) => {
  it('every operation checks the token before all else', () =>
    refusesStrangers(world, features.blocks.operations));

  it.each([
    ['block', blockUser],
    ['unblock', unblockUser],
  ] as const)('%s refuses the caller’s own id, and ids of users who do not exist', async (_, spec) => {
    const ada = await world.user();
    await world.refused(spec, about(ada, ada), 'connection/self-block');
    for (const id of ['nonsense', randomUUID(), world.stranger.id]) {
      await world.refused(spec, about(ada, { id }), 'connection/user-not-found');
    }
  });

  it('a block ends the connection and lasts until it is removed, and repeating a request changes nothing', async () => {
    const [ada, grace] = [await world.user(), await world.user()];
    await world.platform.connect(ada, grace);
    const list = async (by: TestUser) => (await world.ok(listBlocks, { token: by.accessToken })).body.data;
    await world.ok(blockUser, about(ada, grace));
    const blocks = await list(ada);
    expect(blocks).toEqual([
      { id: expect.any(String), user: publicUser.parse(grace.user), createdAt: expect.any(String) },
    ]);
    await world.ok(blockUser, about(ada, grace));
    expect(await list(ada)).toEqual(blocks);
    expect(await list(grace)).toEqual([]);
    expect((await world.ok(countConnections, { token: grace.accessToken })).body).toEqual({ count: 0 });
    // A blocked user cannot see the block.
    expect((await world.ok(getConnectionStatus, about(grace, ada))).body).toEqual({ status: 'none' });

    // A user can end only a block that they have made themselves. So Grace cannot end Ada's block.
    await world.ok(unblockUser, about(grace, ada));
    await world.refused(requestConnection, about(grace, ada), 'connection/not-allowed');
    await world.ok(unblockUser, about(ada, grace));
    await world.ok(unblockUser, about(ada, grace));
    expect(await list(ada)).toEqual([]);
    await world.ok(requestConnection, about(grace, ada));
    await world.ok(blockUser, about(ada, grace));
    const { body } = await world.ok(listReceivedRequests, { token: ada.accessToken });
    expect(body.requests).toEqual([]);
  });

  it('blocks are listed, newest first', async () => {
    const ada = await world.user();
    const others = [await world.user(), await world.user()];
    for (const other of others) await world.ok(blockUser, about(ada, other));
    const given = { token: ada.accessToken };
    const { body } = await world.ok(listBlocks, given);
    expect(body.data.map(({ user }) => user.id)).toEqual(others.map(({ id }) => id).toReversed());
    expect(body.pagination).toEqual({ page: 1, pageSize: 20, totalPages: 1, totalItems: 2, hasMore: false });
    await walksList(world, listBlocks, given, { rows: ({ data }) => data, max: 100 });
    await refusesTwice(world, listBlocks, given);
  });

  it('two users with a block between them do not see each other in lists, counts and suggestions', async () => {
    const ada = await world.user({ name: 'Ada' });
    const hidden = await world.user({ name: 'Quentin' });
    const third = await world.user({ name: 'Third' });
    await world.platform.connect(third, ada);
    await world.platform.connect(third, hidden);
    await world.ok(blockUser, about(ada, hidden));
    for (const [by, other] of [
      [ada, hidden],
      [hidden, ada],
    ] as const) {
      const { body } = await world.ok(listUserConnections, about(by, third));
      expect(body.connections.map(({ connectedUser }) => connectedUser.id)).toEqual([by.id]);
      expect(body.pagination.totalCount).toBe(1);
      expect((await world.ok(countUserConnections, about(by, third))).body).toEqual({ count: 1 });
      const searched = await world.ok(listUserConnections, {
        ...about(by, third),
        query: `query=${other.user.name}`,
      });
      expect(searched.body.connections).toEqual([]);
      expect((await world.ok(listUserConnections, about(by, other))).body.connections).toEqual([]);
    }
    expect((await world.ok(countUserConnections, { params: { userId: third.id } })).body).toEqual({
      count: 2,
    });
    const suggested = async (by: TestUser, query: string) =>
      (await world.ok(suggestUsers, { token: by.accessToken, query })).body.map(({ id }) => id);
    // Identity learns of the block from an event, so the suggestions change a moment later.
    await waitFor(async () => (await suggested(ada, 'query=quentin')).length === 0, { what: 'the block' });
    expect(await suggested(hidden, 'query=ada')).not.toContain(ada.id);
    expect(await suggested(third, 'query=quentin')).toEqual([hidden.id]);
  });
});
