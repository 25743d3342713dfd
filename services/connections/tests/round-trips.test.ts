import { randomUUID } from 'node:crypto';
import type { Bus } from '@kith/bus';
import {
  listBlocks,
  listConnections,
  listReceivedRequests,
  listSentRequests,
  listUserConnections,
  type OperationSpec,
} from '@kith/contracts';
import type { Relay } from '@kith/service';
import {
  callerOf,
  callOperation,
  createStore,
  handlerEngines,
  type Read,
  serveAlone,
  type WatchedStore,
  watchReads,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pairOfRow } from '../src/import-pair.ts';
import { type Entry, lists } from '../src/listing.ts';
import { listHandler } from '../src/operations/list.ts';
import { listBlocksHandler } from '../src/operations/list-blocks.ts';
import { listOfUserHandler } from '../src/operations/list-of-user.ts';
import { listReceivedHandler } from '../src/operations/list-received.ts';
import { listSentHandler } from '../src/operations/list-sent.ts';
import { withBlock } from '../src/pair.ts';
import type { ConnectionStore } from '../src/store/index.ts';
import { openStore } from '../src/store/index.ts';
import { unknownUser } from '../src/unknown-user.ts';
import { storeLongLists } from './support/long-list.ts';
import { eventOf } from './support/pairs.ts';

const handlers = [listHandler, listSentHandler, listReceivedHandler, listBlocksHandler, listOfUserHandler];
const specs = {
  established: listConnections,
  sent: listSentRequests,
  received: listReceivedRequests,
  blocks: listBlocks,
} as const;
/**
 * The number of rows in a long list. If a page lies this deep in a list, the store reads the total first, and the rows in
 * another round trip.
 */
const long = 20_100;
const shorter = { sent: 300, received: 300, blocks: 300 } as const;

describe.each(handlerEngines())('the database queries of a list, %s', (engine) => {
  const ends = new AsyncDisposableStack();
  const projectId = randomUUID();
  const ann = randomUUID();
  let bus: Bus;
  let watched: WatchedStore;
  let store: ConnectionStore;
  /** Ann's connections in the order of her list. */
  let connections: Entry[];

  beforeAll(async () => {
    const { config } = ends.use(await createStore(engine));
    watched = ends.use(await watchReads(config));
    store = ends.adopt(await openStore(watched.config), (opened) => opened.close());
    const relay = { kick: () => undefined } as unknown as Relay;
    bus = ends.use(await serveAlone(handlers, (own) => ({ store, bus: own, relay })));
    const stored = await storeLongLists(
      config,
      { projectId, ownerId: ann },
      { ...shorter, established: long },
    );
    connections = stored.established;
    const pages = Object.values(stored).flatMap((some) => [...some.slice(0, 160), ...some.slice(19_900)]);
    const users = [ann, ...pages.map(({ userId }) => userId)];
    const profiles = users.map((id) => ({ seq: 1, user: unknownUser(projectId, id, new Date(0)) }));
    await store.profiles.keepAll(profiles);
  });
  afterAll(() => ends.disposeAsync());

  async function read(
    spec: OperationSpec,
    given: { by?: string | null; owner?: string; query?: string } = {},
  ) {
    const { by = ann, owner = ann, query = '' } = given;
    const params: Record<string, string> = spec === listUserConnections ? { userId: owner } : {};
    let answer: Awaited<ReturnType<typeof callOperation>> | undefined;
    const trips = await watched.tripsOf(async () => {
      const caller = by ? callerOf(by) : null;
      answer = await callOperation(bus, spec, { projectId, caller, params, query });
    });
    expect(answer?.status).toBe(200);
    return { trips, body: answer!.body, next: answer!.next };
  }

  /**
   * Expects at most two round trips. The rows must be read as a range of their keys, and the profiles of a page in one query.
   */
  async function expectFlat(trips: Read[][]): Promise<void> {
    expect(trips.map((reads) => reads.map(({ asked }) => asked)).slice(2)).toEqual([]);
    const rows = trips.flat().filter(({ table }) => table === 'entries');
    expect(rows.length).toBeGreaterThan(0);
    for (const { plan } of rows) expect(await plan()).toMatchObject({ isKeyRange: true });
    const joined = trips[1]?.filter(({ table }) => table === 'profiles') ?? [];
    expect(joined.length).toBeLessThanOrEqual(1);
  }

  const idsOf = (body: { connections: { id: string }[] }) => body.connections.map(({ id }) => id);
  const expected = (from: number, to: number) => connections.slice(from, to).map(({ id }) => id);

  it.each(Object.entries(specs))(
    '%s: reads any page in two round trips, as a range of keys',
    async (list, spec) => {
      const first = await read(spec, { query: 'limit=100' });
      await expectFlat(first.trips);
      const second = await read(spec, { query: first.next! });
      await expectFlat(second.trips);
      await expectFlat((await read(spec, { query: 'limit=20&page=7' })).trips);
      const items = (body: Record<string, { id: string }[]>) =>
        (body.connections ?? body.requests ?? body.data)!.map(({ id }) => id);
      expect(lists).toContain(list);
      expect(new Set([...items(first.body), ...items(second.body)]).size).toBe(200);
    },
  );

  it('reads page 1,000 in two round trips, and later pages and pages past the end correctly', async () => {
    const page = async (number: number) => read(listConnections, { query: `page=${number}` });
    const thousandth = await page(1_000);
    await expectFlat(thousandth.trips);
    expect(idsOf(thousandth.body)).toEqual(expected(19_980, 20_000));
    const deeper = await page(1_003);
    expect(idsOf(deeper.body)).toEqual(expected(20_040, 20_060));
    expect(deeper.body.pagination).toMatchObject({ totalCount: long, hasNextPage: true });
    for (const number of [1_006, 1_007, 50_000]) {
      const { body, next } = await page(number);
      expect([idsOf(body), next]).toEqual([expected(20 * (number - 1), 20 * number), undefined]);
      expect(body.pagination).toMatchObject({ totalCount: long, hasNextPage: false });
    }
  });

  it("a user's list takes two round trips for an anonymous caller and for a caller without blocks", async () => {
    for (const by of [null, randomUUID()]) {
      for (const [query, from] of [
        ['', 0],
        ['page=1000', 19_980],
      ] as const) {
        const { trips, body } = await read(listUserConnections, { by, query });
        await expectFlat(trips);
        expect(idsOf(body)).toEqual(expected(from, from + 20));
      }
    }
  });

  describe("a user's list without the users who are hidden from the caller", () => {
    const count = 40;
    const rea = randomUUID();
    let all: Entry[];
    beforeAll(async () => {
      const pairs = Array.from({ length: count }, (_, second) => {
        const requestedAt = new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
        const row = { state: 'accepted', message: null, requestedAt } as const;
        return pairOfRow(projectId, row, { requesterId: rea, receiverId: randomUUID() });
      });
      expect(await store.import(projectId, pairs)).toEqual(pairs.map(() => 'stored'));
      const of = { projectId, ownerId: rea, list: 'established' as const };
      all = (await store.list({ ...of, from: { skip: 0 }, limit: 100 })).entries;
      const users = [rea, ...all.map(({ userId }) => userId)];
      const profiles = users.map((id) => ({ seq: 1, user: unknownUser(projectId, id, new Date(0)) }));
      await store.profiles.keepAll(profiles);
    });

    async function block(blockerId: string, otherId: string): Promise<void> {
      const at = new Date();
      const before = await store.pairOf(projectId, blockerId, otherId);
      const after = withBlock(before, { userId: blockerId, at })!;
      expect(await store.change(before, after, eventOf(after, blockerId, at))).toBe(true);
    }

    it.each([
      ['nobody in the list', []],
      ['the first and the last', [0, 39]],
      ['some', [1, 2, 7, 15, 16, 30]],
      ['more than the spare rows', Array.from({ length: 25 }, (_, at) => at + 5)],
      ['all', Array.from({ length: count }, (_, at) => at)],
    ])('shows the visible users if these are hidden: %s', async (what, hidden) => {
      const bob = randomUUID();
      await block(bob, randomUUID());
      for (const at of hidden) await block(bob, all[at]!.userId);
      const visible = all.filter((_, at) => !hidden.includes(at)).map(({ id }) => id);
      const page = async (query: string) => {
        const { trips, body, next } = await read(listUserConnections, { by: bob, owner: rea, query });
        if (hidden.length <= 20) await expectFlat(trips);
        expect(body.pagination.totalCount).toBe(visible.length);
        return { ids: idsOf(body), next };
      };
      for (const limit of [3, 50]) {
        const last = Math.ceil(count / limit) + 1;
        for (let number = 1; number <= last; number++) {
          const { ids, next } = await page(`limit=${limit}&page=${number}`);
          expect([what, ids]).toEqual([what, visible.slice((number - 1) * limit, number * limit)]);
          expect(next !== undefined).toBe(number * limit < visible.length);
        }
        const walked: string[] = [];
        for (let next: string | undefined = `limit=${limit}`; next !== undefined; ) {
          const answer: Awaited<ReturnType<typeof page>> = await page(next);
          walked.push(...answer.ids);
          next = answer.next;
        }
        expect(walked).toEqual(visible);
      }
    });
  });
});
