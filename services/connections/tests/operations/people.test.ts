import { randomUUID } from 'node:crypto';
import {
  listConnections,
  listReceivedRequests,
  listSentRequests,
  listUserConnections,
  type OperationSpec,
} from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onePage, refusal } from '../support/call.ts';
import { connectAt } from '../support/pairs.ts';
import { World } from '../support/world.ts';

interface Shown {
  id: string;
  user?: { id: string };
  connectedUser?: { id: string };
}

describe.each(handlerEngines())('lists of people, %s', (engine) => {
  let world: World;
  let ann: string;
  beforeAll(async () => {
    world = await World.start(engine);
    ann = (await world.newPerson()).id;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const idsOf = (body: { connections?: Shown[]; requests?: Shown[] }) =>
    (body.connections ?? body.requests ?? []).map(({ user, connectedUser }) => (user ?? connectedUser)?.id);

  it('pending requests: are shown to the requester as sent and to the receiver as received, with complete profiles', async () => {
    const [bob, eve] = [await world.newPerson({ name: 'Bob' }), await world.newPerson({ name: 'Eve' })];
    const { id, createdAt } = (await world.request(bob.id, eve.id, { message: 'Hi' })).body;
    const none = { requests: [], pagination: onePage(0) };
    const common = { id, message: 'Hi', createdAt };
    const sent = { requests: [{ ...common, type: 'sent', user: eve }], pagination: onePage(1) };
    const received = { requests: [{ ...common, type: 'received', user: bob }], pagination: onePage(1) };
    expect((await world.call(listSentRequests, bob.id)).body).toEqual(sent);
    expect((await world.call(listReceivedRequests, eve.id)).body).toEqual(received);
    expect((await world.call(listReceivedRequests, bob.id)).body).toEqual(none);
    expect((await world.call(listSentRequests, eve.id)).body).toEqual(none);
    await world.accept(eve.id, id);
    expect((await world.call(listSentRequests, bob.id)).body).toEqual(none);
    expect((await world.call(listReceivedRequests, eve.id)).body).toEqual(none);
  });

  it('pending requests: are read by page and by cursor; a cursor is valid only for its own list', async () => {
    const [bob] = (await world.newPeople(1)) as [string];
    const others = await world.newPeople(5);
    for (const other of others) await world.request(other, bob);
    const all = idsOf((await world.call(listReceivedRequests, bob)).body);
    expect([...all].sort()).toEqual([...others].sort());
    const first = await world.call(listReceivedRequests, bob, { query: 'limit=2' });
    const next = /^<\?(.*)>/.exec(first.headers.Link!)![1]!;
    const second = await world.call(listReceivedRequests, bob, { query: next });
    expect([...idsOf(first.body), ...idsOf(second.body)]).toEqual(all.slice(0, 4));
    expect(second.body.pagination).toMatchObject({ currentPage: 2, totalPages: 3, hasNextPage: true });
    expect(idsOf((await world.call(listReceivedRequests, bob, { query: 'limit=2&page=3' })).body)).toEqual(
      all.slice(4),
    );
    for (const spec of [listSentRequests, listConnections]) {
      const refused = await world.call(spec, bob, { query: next });
      expect(refused.body).toMatchObject({ code: 'connection/invalid-query', field: 'cursor' });
    }
    const renamed = await world.call(listReceivedRequests, bob, { query: `${next}&query=x` });
    expect(renamed.body).toMatchObject({ code: 'connection/invalid-query', field: 'cursor' });
  });

  it("a user's list is shown to everyone; the list of an unknown user is not found", async () => {
    const [bob, eve] = (await world.newPeople(2)) as [string, string];
    await world.connect(bob, eve);
    const own = (await world.list(bob)).body;
    for (const by of [null, ann, bob, eve]) {
      const answer = await world.call(listUserConnections, by, { params: { userId: bob.toUpperCase() } });
      expect([answer.status, answer.body]).toEqual([200, own]);
    }
    for (const userId of [randomUUID(), 'nobody']) {
      const answer = await world.call(listUserConnections, null, { params: { userId } });
      expect(answer).toMatchObject(refusal(404, 'connection/user-not-found'));
    }
    // The query is checked before the target.
    for (const [userId, query, field] of [
      [bob, 'limit=0', 'limit'],
      [bob, 'cursor=x', 'cursor'],
      [randomUUID(), 'cursor=x', 'cursor'],
    ] as const) {
      const bad = await world.call(listUserConnections, null, { params: { userId }, query });
      expect([bad.status, bad.body]).toMatchObject([400, { code: 'connection/invalid-query', field }]);
    }
  });

  describe('a search', () => {
    const people = [
      { username: 'Anna.Berg', name: 'Anna Berg' },
      { username: 'strasse', name: 'Jörg Straße' },
      { username: 'odysseus', name: 'ΟΔΥΣΣΕΥΣ' },
      { username: 'fedor_anna', name: 'Фёдор' },
      { username: null, name: 'JOSÉ (a+b)*' },
      { username: 'nameless.anna', name: null },
    ];
    let owner: string;
    let ids: string[];
    const at = (...indexes: number[]) => indexes.map((index) => ids[index]);
    beforeAll(async () => {
      owner = (await world.newPerson()).id;
      ids = [];
      for (const [index, person] of people.entries()) {
        const { id } = await world.newPerson(person);
        const time = new Date(Date.parse('2026-03-01T00:00:00.000Z') - index * 1_000);
        await connectAt(world.store, { projectId: world.projectId, userId: owner, otherId: id, at: time });
        ids.push(id);
      }
    });
    const search = async (query: string, fields?: string) => {
      const params = new URLSearchParams({ query, ...(fields ? { searchFields: fields } : {}) });
      const { body } = await world.list(owner, params.toString());
      expect(body.pagination.totalCount).toBe(body.connections.length);
      return idsOf(body);
    };

    it.each([
      ['anna', [0, 3, 5]],
      ['ANNA', [0, 3, 5]],
      ['  berg ', [0]],
      ['STRASSE', [1]],
      ['straß', [1]],
      ['jorg', [1]],
      ['οδυσσεύς', [2]],
      ['фЕДО', [3]],
      ['jose', [4]],
      ['(A+B)*', [4]],
      ['.', [0, 5]],
      ['_', [3]],
      ['%', []],
      ['nobody', []],
      ['', [0, 1, 2, 3, 4, 5]],
    ] as const)('finds the expected people for "%s"', async (query, expected) => {
      expect(await search(query)).toEqual(at(...expected));
    });

    it('looks only at the given field', async () => {
      expect(await search('anna', 'username')).toEqual(at(0, 3, 5));
      expect(await search('anna', 'name')).toEqual(at(0));
      expect(await search('strasse', 'name')).toEqual(at(1));
    });

    it.each([
      ['searchFields=email', 'searchFields'],
      [`query=${'x'.repeat(101)}`, 'query'],
      ['query=a&query=b', 'query'],
    ])('refuses %s', async (query, field) => {
      const answer = await world.list(owner, query);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'connection/invalid-query', field });
    });

    it('is read by page and by cursor; a cursor is valid only for its own search', async () => {
      const page = async (query: string) => world.list(owner, query);
      expect(idsOf((await page('query=anna&limit=2&page=2')).body)).toEqual(at(5));
      expect((await page('query=anna&limit=2&page=9')).body).toMatchObject({
        connections: [],
        pagination: { totalCount: 3, totalPages: 2, hasNextPage: false },
      });
      const first = await page('query=anna&limit=2');
      expect(first.body.pagination).toMatchObject({ totalCount: 3, totalPages: 2, hasNextPage: true });
      const next = /^<\?(.*)>/.exec(first.headers.Link!)![1]!;
      const second = await page(next);
      expect(idsOf(second.body)).toEqual(at(5));
      expect(second.headers).not.toHaveProperty('Link');
      expect(idsOf((await page(next.replace('anna', 'ANNA'))).body)).toEqual(at(5));
      for (const changed of [next.replace('anna', 'ann'), `${next}&searchFields=name`]) {
        expect((await page(changed)).body).toMatchObject({ field: 'cursor' });
      }
    });

    it("works in lists of requests and in another user's list, and finds people by their current name", async () => {
      const [bob, eve] = [await world.newPerson(), await world.newPerson({ name: 'Zoë' })];
      const found = async (spec: OperationSpec, by: string, userId?: string) => {
        const params = userId ? { params: { userId } } : {};
        const hits = await world.call(spec, by, { ...params, query: 'query=ZOE' });
        const misses = await world.call(spec, by, { ...params, query: 'query=eve' });
        return [idsOf(hits.body), idsOf(misses.body)];
      };
      const { id } = (await world.request(bob.id, eve.id)).body;
      expect(await found(listSentRequests, bob.id)).toEqual([[eve.id], []]);
      await world.store.profiles.keep({ seq: 2, user: { ...eve, name: 'Eve' } });
      expect(await found(listSentRequests, bob.id)).toEqual([[], [eve.id]]);
      await world.store.profiles.keep({ seq: 3, user: eve });
      await world.accept(eve.id, id);
      expect(await found(listUserConnections, ann, bob.id)).toEqual([[eve.id], []]);
      await world.store.profiles.keep({ seq: 2, user: { ...bob, name: 'zoe' } });
      expect(await found(listReceivedRequests, eve.id)).toEqual([[], []]);
    });
  });
});
