import { randomUUID } from 'node:crypto';
import { repeatHeader } from '@kith/bus';
import { listConnections, listUserConnections } from '@kith/contracts';
import { callerOf, callOperation, handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unknownUser } from '../../src/unknown-user.ts';
import { onePage, refusal } from '../support/call.ts';
import { connectAt, perform } from '../support/pairs.ts';
import { World } from '../support/world.ts';

const start = Date.parse('2026-03-01T00:00:00.000Z');

describe.each(handlerEngines())('list, %s', (engine) => {
  let world: World;
  /** Ann got 25 connections with others, one each second. `expected` holds the connections' ids in the order of the list. */
  let ann: string;
  let others: string[];
  let expected: string[];
  const pageOf = async (query: string) => (await world.list(ann, query)).body;
  const idsOf = (body: { connections: { id: string }[] }) => body.connections.map(({ id }) => id);

  beforeAll(async () => {
    world = await World.start(engine);
    ann = await world.newUser();
    others = [];
    expected = [];
    for (let second = 0; second < 25; second++) {
      const otherId = randomUUID();
      await world.store.profiles.keep({
        seq: 1,
        user: unknownUser(world.projectId, otherId, new Date(start)),
      });
      others.push(otherId);
      expected.unshift(await connectSecond(otherId, second));
    }
  });
  afterAll(() => world[Symbol.asyncDispose]());

  async function connectSecond(otherId: string, second: number): Promise<string> {
    const { projectId, store } = world;
    const at = new Date(start + second * 1_000);
    return (await connectAt(store, { projectId, userId: ann, otherId, at })).connectionId!;
  }

  it('shows each of two users the complete profile of the other', async () => {
    const fields = { name: 'Zoë 🦊', bio: 'Bio', avatar: 'https://example.org/a.png', metadata: { a: [1] } };
    const bob = await world.newProfile({ username: 'bob.1', ...fields });
    const eve = await world.newProfile({ username: 'eve.1' });
    const requested = await world.request(bob.id, eve.id, { message: 'Hi' });
    const accepted = await world.accept(eve.id, requested.body.id);
    const connection = {
      id: requested.body.id,
      connectedAt: accepted.body.respondedAt,
      requestedAt: requested.body.createdAt,
      message: 'Hi',
    };
    for (const [by, connectedUser] of [
      [eve, bob],
      [bob, eve],
    ] as const) {
      const answer = await world.list(by.id);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        connections: [{ ...connection, connectedUser }],
        pagination: onePage(1),
      });
      expect(answer.headers).not.toHaveProperty('Link');
    }
  });

  it('contains its items twice under a v7 short form, but only once in the service’s reply if they are large', async () => {
    const { projectId, store, bus } = world;
    const bob = await world.newPerson();
    const short = async () => {
      const given = { projectId, caller: callerOf(bob.id), wireVersion: 'v7', isShort: true } as const;
      const { status, headers, body } = await callOperation(bus, listConnections, {
        ...given,
        query: 'limit=100',
      });
      expect(status).toBe(200);
      return { repeats: headers[repeatHeader], keys: Object.keys(body), body };
    };
    // With this metadata, each profile is about as large as the largest possible profile plus the longest possible message.
    const metadata = { text: 'x'.repeat(38 * 1024) };
    const connected: string[] = [];
    const connect = async () => {
      const { id: otherId } = await world.newPerson({ metadata });
      await connectAt(store, { projectId, userId: bob.id, otherId, at: new Date() });
      connected.push(otherId);
    };
    await connect();
    const few = await short();
    expect([few.repeats, few.keys]).toEqual([undefined, ['connections', 'data', 'pagination']]);
    expect(few.body.data).toEqual(few.body.connections);
    while (connected.length < 100) await connect();
    const many = await short();
    expect([many.repeats, many.keys]).toEqual(['connections', ['connections', 'pagination']]);
    expect(many.body.connections).toHaveLength(100);
  });

  it("shows a connection's message only to the two users", async () => {
    const [bob, eve, mallory] = (await world.newUsers(3)) as [string, string, string];
    await world.accept(eve, (await world.request(bob, eve, { message: 'Between us' })).body.id);
    const told = async (caller: string | null, userId: string) => {
      const { body } = await world.call(listUserConnections, caller, { params: { userId } });
      return body.connections.map(({ message }: { message: string | null }) => message);
    };
    for (const userId of [bob, eve]) {
      for (const party of [bob, eve]) expect(await told(party, userId)).toEqual(['Between us']);
      for (const other of [mallory, null]) expect(await told(other, userId)).toEqual([null]);
    }
  });

  it('is empty for a user without connections, and does not list requests', async () => {
    const [bob, eve] = (await world.newUsers(2)) as [string, string];
    await world.request(bob, eve);
    for (const user of [bob, eve, randomUUID()]) {
      expect((await world.list(user)).body).toEqual({ connections: [], pagination: onePage(0) });
    }
    expect((await world.list(ann, '', await world.newProject())).body.pagination.totalCount).toBe(0);
  });

  it.each([
    { query: '', page: 1, limit: 20, from: 0, hasNext: true },
    { query: 'page=2', page: 2, limit: 20, from: 20, hasNext: false },
    { query: 'page=3&limit=10', page: 3, limit: 10, from: 20, hasNext: false },
    { query: 'page=5&limit=5', page: 5, limit: 5, from: 20, hasNext: false },
    { query: 'page=4&limit=5', page: 4, limit: 5, from: 15, hasNext: true },
    { query: 'limit=25', page: 1, limit: 25, from: 0, hasNext: false },
    { query: 'limit=24', page: 1, limit: 24, from: 0, hasNext: true },
    { query: 'limit=101', page: 1, limit: 100, from: 0, hasNext: false },
    { query: 'limit=99999999999999999999999', page: 1, limit: 100, from: 0, hasNext: false },
    { query: 'page=6&limit=5', page: 6, limit: 5, from: 25, hasNext: false },
    { query: 'page=1000000', page: 1_000_000, limit: 20, from: 25, hasNext: false },
    {
      query: 'page=99999999999999999999999&limit=100',
      page: Number.MAX_SAFE_INTEGER,
      limit: 100,
      from: 25,
      hasNext: false,
    },
    { query: 'page=007&limit=4&other=1', page: 7, limit: 4, from: 24, hasNext: false },
  ])('pages by number: "$query"', async ({ query, page, limit, from, hasNext }) => {
    const answer = await world.list(ann, query);
    expect(answer.status).toBe(200);
    expect(idsOf(answer.body)).toEqual(expected.slice(from, from + limit));
    expect(answer.body.pagination).toEqual({
      currentPage: page,
      totalPages: Math.ceil(25 / limit),
      totalCount: 25,
      hasNextPage: hasNext,
      hasPreviousPage: page > 1,
      limit,
    });
    expect('Link' in answer.headers).toBe(hasNext);
  });

  it.each([
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=1.5', 'page'],
    ['page=', 'page'],
    ['page=x', 'page'],
    ['page=1&page=2', 'page'],
    ['limit=0', 'limit'],
    ['limit=x', 'limit'],
    ['limit=1e2', 'limit'],
    ['limit=5&limit=5', 'limit'],
    ['cursor=x', 'cursor'],
    ['cursor=', 'cursor'],
    ['cursor=bnVsbA', 'cursor'],
  ])('refuses "%s"', async (query, field) => {
    const answer = await world.list(ann, query);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: expect.stringMatching(`^${field} .*\\.$`),
      code: 'connection/invalid-query',
      field,
    });
  });

  const nextOf = (headers: Record<string, string>) => /^<\?(.*)>; rel="next"$/.exec(headers.Link ?? '')?.[1];

  it('can be read by cursor, and the limit may change between pages', async () => {
    const first = await world.list(ann, 'page=1&limit=10&x=y');
    const next = nextOf(first.headers)!;
    expect(Object.fromEntries(new URLSearchParams(next))).toEqual({
      limit: '10',
      x: 'y',
      cursor: expect.any(String),
    });
    const second = await world.list(ann, next);
    expect(idsOf(second.body)).toEqual(expected.slice(10, 20));
    expect(second.body.pagination).toEqual({
      currentPage: 2,
      totalPages: 3,
      totalCount: 25,
      hasNextPage: true,
      hasPreviousPage: true,
      limit: 10,
    });
    const cursor = new URLSearchParams(nextOf(second.headers)).get('cursor');
    // If a request has both a cursor and a page, the cursor is used.
    const third = await world.list(ann, `page=1&limit=4&cursor=${cursor}`);
    expect(idsOf(third.body)).toEqual(expected.slice(20, 24));
    expect(third.body.pagination).toMatchObject({ currentPage: 3, hasNextPage: true });
    const last = await world.list(ann, nextOf(third.headers));
    expect(idsOf(last.body)).toEqual(expected.slice(24));
    expect(last.body.pagination).toMatchObject({ currentPage: 4, hasNextPage: false });
    expect(last.headers).not.toHaveProperty('Link');
  });

  it('refuses a cursor of another user and a cursor of another project', async () => {
    const next = nextOf((await world.list(ann, 'limit=10')).headers)!;
    const refused = refusal(400, 'connection/invalid-query', {
      message: 'cursor does not belong to this list. Start the list again without a cursor.',
      field: 'cursor',
    });
    expect(await world.list(others[0]!, next)).toMatchObject(refused);
    expect(await world.list(ann, next, await world.newProject())).toMatchObject(refused);
  });

  it('shows each remaining connection once to a client that reads by cursor while connections begin and end', async () => {
    const { projectId, store } = world;
    const first = await world.list(ann, 'limit=10');
    // A new connection is added at the top of the list. The page's last connection and a later connection are removed. The next
    // page continues at the same position.
    const late = await connectSecond(randomUUID(), 100);
    const goneIds = [idsOf(first.body)[9]!, expected[12]!];
    for (const id of goneIds) {
      const otherId = others[24 - expected.indexOf(id)]!;
      await perform(store, { projectId, userId: ann, otherId, action: 'disconnect' });
    }
    const walked: string[] = [];
    for (let next = nextOf(first.headers); next; ) {
      const answer = await world.list(ann, next);
      walked.push(...idsOf(answer.body));
      next = nextOf(answer.headers);
    }
    expect(walked).toEqual(expected.slice(10).filter((id) => !goneIds.includes(id)));
    const now = await pageOf('limit=100');
    expect(idsOf(now)).toEqual([late, ...expected.filter((id) => !goneIds.includes(id))]);
    expect(now.pagination.totalCount).toBe(24);
  });

  it('shows a placeholder for a user who cannot be found', async () => {
    const [bob, nobody] = [await world.newUser(), randomUUID()];
    const { projectId, store } = world;
    const at = new Date(start);
    const pair = await connectAt(store, { projectId, userId: bob, otherId: nobody, at });
    const { body } = await world.list(bob);
    expect(body.connections).toEqual([
      {
        id: pair.connectionId,
        connectedUser: unknownUser(projectId, nobody, at),
        connectedAt: at.toISOString(),
        requestedAt: at.toISOString(),
        message: null,
      },
    ]);
    expect(body.pagination.totalCount).toBe(1);
  });

  it('still works while identity is stopped', async () => {
    await using own = await World.start(engine);
    const [bob, eve] = (await own.newUsers(2)) as [string, string];
    await own.connect(bob, eve);
    await own.identity.stop();
    expect((await own.list(bob)).body.connections).toMatchObject([{ connectedUser: { id: eve } }]);
    const nobody = randomUUID();
    const { projectId, store } = own;
    await connectAt(store, { projectId, userId: bob, otherId: nobody, at: new Date(start) });
    const { body } = await own.list(bob);
    expect(body.connections).toMatchObject([
      { connectedUser: { id: eve } },
      { connectedUser: { id: nobody, name: null } },
    ]);
  });
});
