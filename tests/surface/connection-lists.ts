import { randomUUID } from 'node:crypto';
import {
  acceptConnection,
  countConnections,
  countUserConnections,
  listConnections,
  listReceivedRequests,
  listSentRequests,
  listUserConnections,
  publicUser,
  requestConnection,
  updateProject,
} from '@kith/contracts';
import { type TestUser, waitFor } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { refusesStrangers, refusesTwice } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

const shown = ({ user }: TestUser) => publicUser.parse(user);

export const connectionLists = surfaceSuite('connection-lists', (world) => {
  let ada: TestUser;
  let grace: TestUser;
  let alan: TestUser;
  /** The ids of Ada's connections, the older connection first. */
  const ids: string[] = [];
  beforeAll(async () => {
    ada = await world.user({ name: 'Ada' });
    grace = await world.user({ name: 'ÄRZTIN Grace', username: 'grace.hopper' });
    alan = await world.user({ name: 'Alan', username: 'alan.t' });
    for (const [from, to, message] of [
      [ada, grace, 'Hello'],
      [alan, ada, null],
    ] as const) {
      const asked = await world.ok(requestConnection, {
        token: from.accessToken,
        params: { userId: to.id },
        body: { message },
      });
      await world.ok(acceptConnection, { token: to.accessToken, params: { connectionId: asked.body.id } });
      ids.push(asked.body.id);
    }
  });

  it('every operation that needs a token checks it before all else', () =>
    refusesStrangers(world, features['connection-lists'].operations));

  it('connections are listed, newest first, with the public profile of the other user', async () => {
    const given = { token: ada.accessToken };
    const { body } = await world.ok(listConnections, given);
    const times = { connectedAt: expect.any(String), requestedAt: expect.any(String) };
    expect(body).toEqual({
      connections: [
        { id: ids[1], connectedUser: shown(alan), message: null, ...times },
        { id: ids[0], connectedUser: shown(grace), message: 'Hello', ...times },
      ],
      pagination: {
        currentPage: 1,
        totalPages: 1,
        totalCount: 2,
        hasNextPage: false,
        hasPreviousPage: false,
        limit: 20,
      },
    });
    await walksList(world, listConnections, given, { rows: ({ connections }) => connections, max: 100 });
    await walksList(
      world,
      listConnections,
      { ...given, query: 'query=a&searchFields=name' },
      {
        rows: ({ connections }) => connections,
        max: 100,
      },
    );
    const alone = await world.ok(listConnections, { token: (await world.user()).accessToken });
    const none = { totalPages: 0, totalCount: 0, hasNextPage: false, hasPreviousPage: false };
    expect(alone.body).toEqual({ connections: [], pagination: { currentPage: 1, limit: 20, ...none } });
  });

  const people = [
    ['connections', listConnections],
    ['of a user', listUserConnections],
    ['sent', listSentRequests],
    ['received', listReceivedRequests],
  ] as const;
  it.each(people)('%s: an invalid search is refused', async (_, spec) => {
    const given = { token: ada.accessToken, params: { userId: ada.id } };
    const code = 'connection/invalid-query';
    await world.refused(spec, { ...given, query: `query=${'x'.repeat(101)}` }, code, { field: 'query' });
    for (const fields of ['email', 'username,name', '']) {
      const query = `query=x&searchFields=${fields}`;
      await world.refused(spec, { ...given, query }, code, { field: 'searchFields' });
    }
    await refusesTwice(world, spec, given);
  });

  it('people are found by a part of their username or name, in upper or lower case, in any script', async () => {
    const found = async (query: string) =>
      (await world.ok(listConnections, { token: ada.accessToken, query })).body.connections.map(
        ({ id }) => id,
      );
    expect(await found('query=HOPPER')).toEqual([ids[0]]);
    expect(await found(`query=${encodeURIComponent('ärztin')}`)).toEqual([ids[0]]);
    expect(await found('query=hopper&searchFields=name')).toEqual([]);
    expect(await found('query=alan&searchFields=username')).toEqual([ids[1]]);
    expect(await found('query=%20')).toEqual([ids[1], ids[0]]);
  });

  it('a cursor is valid only for the same caller, operation and search', async () => {
    const given = { token: ada.accessToken };
    const { headers } = await world.ok(listConnections, { ...given, query: 'limit=1' });
    const cursor = new URLSearchParams(/<\?([^>]+)>/.exec(headers.link ?? '')?.[1]).get('cursor') ?? '';
    const query = `cursor=${cursor}`;
    const wrong = [
      [listConnections, { ...given, query: `${query}&query=a` }],
      [listConnections, { token: grace.accessToken, query }],
      [listSentRequests, { ...given, query }],
      [listUserConnections, { ...given, params: { userId: ada.id }, query }],
    ] as const;
    for (const [spec, call] of wrong) {
      await world.refused(spec, call, 'connection/invalid-query', { field: 'cursor' });
    }
    // If a request has a cursor, the page number is ignored.
    const { body } = await world.ok(listConnections, { ...given, query: `${query}&page=7` });
    expect(body).toMatchObject({ connections: [{ id: ids[0] }], pagination: { currentPage: 2 } });
  });

  it('anybody can see a user’s connections and their count', async () => {
    const params = { userId: ada.id };
    const own = await world.ok(listConnections, { token: ada.accessToken });
    const [alans, graces] = own.body.connections;
    // Only the two connected users see the message that one of them sent to the other.
    const toOthers = { ...own.body, connections: [alans, { ...graces, message: null }] };
    for (const token of [
      undefined,
      'null',
      grace.accessToken,
      alan.accessToken,
      world.stranger.accessToken,
    ]) {
      const given = { params, ...(token ? { token } : {}) };
      const expected = token === grace.accessToken ? own.body : toOthers;
      expect((await world.ok(listUserConnections, given)).body).toEqual(expected);
      expect((await world.ok(countUserConnections, given)).body).toEqual({ count: 2 });
    }
    await walksList(
      world,
      listUserConnections,
      { params },
      { rows: ({ connections }) => connections, max: 100 },
    );
    for (const userId of ['nonsense', randomUUID(), world.stranger.id]) {
      await world.refused(listUserConnections, { params: { userId } }, 'connection/user-not-found');
      await world.refused(countUserConnections, { params: { userId } }, 'connection/user-not-found');
    }
    const both = { params: { userId: 'nonsense' }, query: 'limit=0' };
    await world.refused(listUserConnections, both, 'connection/invalid-query', { field: 'limit' });
    const cursor = { params: { userId: randomUUID() }, query: 'cursor=nonsense' };
    await world.refused(listUserConnections, cursor, 'connection/invalid-query', { field: 'cursor' });
  });

  it('a project can restrict lists and counts to its own users', async () => {
    const { id: projectId } = await world.platform.createProject('Private');
    const user = await world.platform.createUser(projectId);
    const operator = { params: { projectId }, token: world.operatorToken };
    await world.ok(updateProject, { ...operator, body: { publicConnections: false } });
    for (const spec of [listUserConnections, countUserConnections]) {
      const given = { projectId, params: { userId: user.id } };
      // Waits until the gateways know of the change.
      await waitFor(() => world.refused(spec, given, 'auth/unauthorized'), { what: 'the setting' });
      await world.refused(spec, { ...given, token: 'null' }, 'auth/unauthorized');
      await world.refused(spec, { ...given, token: ada.accessToken }, 'auth/forbidden');
      await world.ok(spec, { ...given, token: user.accessToken });
    }
  });

  it('the count is the number of the caller’s connections', async () => {
    expect((await world.ok(countConnections, { token: ada.accessToken })).body).toEqual({ count: 2 });
    expect((await world.ok(countConnections, { token: alan.accessToken })).body).toEqual({ count: 1 });
  });

  it('pending requests are listed for the requester and for the receiver, newest first', async () => {
    const [asker, one, other] = [await world.user({ name: 'Asker' }), await world.user(), await world.user()];
    const ask = async (by: TestUser, { id: userId }: TestUser, message: string) =>
      (await world.ok(requestConnection, { token: by.accessToken, params: { userId }, body: { message } }))
        .body;
    const first = await ask(asker, one, 'First');
    const second = await ask(asker, other, 'Second');
    await ask(one, other, 'Third');
    const { body } = await world.ok(listSentRequests, { token: asker.accessToken });
    expect(body.requests).toEqual([
      { id: second.id, type: 'sent', user: shown(other), message: 'Second', createdAt: second.createdAt },
      { id: first.id, type: 'sent', user: shown(one), message: 'First', createdAt: first.createdAt },
    ]);
    const received = await world.ok(listReceivedRequests, { token: one.accessToken });
    expect(received.body).toEqual({
      requests: [
        { id: first.id, type: 'received', user: shown(asker), message: 'First', createdAt: first.createdAt },
      ],
      pagination: {
        currentPage: 1,
        totalPages: 1,
        totalCount: 1,
        hasNextPage: false,
        hasPreviousPage: false,
        limit: 20,
      },
    });
    const rows = { rows: ({ requests }: { requests: unknown[] }) => requests, max: 100 };
    await walksList(world, listSentRequests, { token: asker.accessToken }, rows);
    await walksList(world, listReceivedRequests, { token: other.accessToken }, rows);
    // An answered request is no longer in the list.
    await world.ok(acceptConnection, { token: one.accessToken, params: { connectionId: first.id } });
    expect((await world.ok(listReceivedRequests, { token: one.accessToken })).body.requests).toEqual([]);
  });
});
