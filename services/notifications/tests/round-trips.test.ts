import { randomUUID } from 'node:crypto';
import { Turns } from '@kith/base';
import type { Bus } from '@kith/bus';
import { listNotifications } from '@kith/contracts';
import {
  callerOf,
  callOperation,
  createStore,
  handlerEngines,
  serveAlone,
  type WatchedStore,
  watchReads,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AppContext } from '../src/app.ts';
import { addNotification } from '../src/events/add.ts';
import { append, emptyFeed } from '../src/feed.ts';
import { notificationIdOf } from '../src/notification-id.ts';
import { listHandler } from '../src/operations/list.ts';
import { openStore } from '../src/store/index.ts';
import { lifeOf } from './support/events.ts';
import { storeFeed } from './support/long-feed.ts';

const count = 20_100;

describe.each(handlerEngines())('the database reads of a list (%s)', (engine) => {
  const ends = new AsyncDisposableStack();
  const owner = { projectId: randomUUID(), userId: randomUUID() };
  let watched: WatchedStore;
  let bus: Bus;
  /** Newest first. */
  let ids: string[];

  beforeAll(async () => {
    const { config } = ends.use(await createStore(engine));
    watched = ends.use(await watchReads(config));
    const store = ends.adopt(await openStore(watched.config), (opened) => opened.close());
    const parts = {
      store,
      relay: { kick: () => undefined },
      turns: new Turns(),
      epoch: 0,
      keepMs: 1_000,
      now: Date.now,
    };
    bus = ends.use(await serveAlone([listHandler], (own) => ({ ...parts, bus: own })));
    ids = await storeFeed(config, owner, count);
  });
  afterAll(() => ends.disposeAsync());

  /** Reads a page. Expects at most two round trips to the database. Expects also that the rows are read as a range of keys. */
  async function page(query: string) {
    let answer: Awaited<ReturnType<typeof callOperation>> | undefined;
    const trips = await watched.tripsOf(async () => {
      const asked = { projectId: owner.projectId, caller: callerOf(owner.userId), query };
      answer = await callOperation(bus, listNotifications, { ...asked, form: '/v7', wireVersion: 'v7' });
    });
    expect(answer?.status).toBe(200);
    expect(trips.map((reads) => reads.map(({ asked }) => asked)).slice(2)).toEqual([]);
    const rows = trips.flat().filter(({ table }) => table === 'entries');
    for (const { plan } of rows) expect(await plan()).toMatchObject({ isKeyRange: true });
    const { data, pagination } = answer!.body;
    expect(pagination.totalItems).toBe(count);
    return { rows: rows.length, ids: data.map(({ id }: { id: string }) => id), next: answer!.next };
  }

  it('take at most two round trips for any page, and read its rows as a range of keys', async () => {
    const first = await page('limit=50');
    expect(first).toMatchObject({ rows: 1, ids: ids.slice(0, 50) });
    expect((await page(first.next!)).ids).toEqual(ids.slice(50, 100));
    for (const number of [7, 1_000, 1_003, 1_005]) {
      const from = 20 * (number - 1);
      expect(await page(`limit=20&page=${number}`)).toMatchObject({
        rows: 1,
        ids: ids.slice(from, from + 20),
      });
    }
  });

  it('include no rows for a page past the end', async () => {
    for (const number of [1_006, 50_000]) {
      expect(await page(`limit=20&page=${number}`)).toMatchObject({ rows: 0, ids: [], next: undefined });
    }
  });
});

describe.each(handlerEngines())('the database reads of a repeated event (%s)', (engine) => {
  it('take one round trip, both if the notification exists and if it was withdrawn', async () => {
    await using ends = new AsyncDisposableStack();
    const { config } = ends.use(await createStore(engine));
    const watched = ends.use(await watchReads(config));
    const store = ends.adopt(await openStore(watched.config), (opened) => opened.close());
    const [projectId, userId, initiatorId] = [randomUUID(), randomUUID(), randomUUID()];
    const owner = { projectId, userId };
    const [made, withdrawn] = [0, 1].map(() =>
      lifeOf({ projectId, requesterId: initiatorId, receiverId: userId }),
    ) as [ReturnType<typeof lifeOf>, ReturnType<typeof lifeOf>];
    const [type, createdAt, keepUntil] = ['connection-request' as const, Date.now(), Date.now() + 3_600_000];
    const metadata = { connectionId: made.connectionId };
    const id = notificationIdOf(made.requested);
    const { feed, entry } = append(emptyFeed, { ...owner, id, type, metadata, createdAt, keepUntil });
    expect(await store.change(await store.feed(owner), { feed, put: [entry] })).toBe(true);
    await store.withdraw(projectId, withdrawn.connectionId, keepUntil);
    const app = { store, keepMs: 3_600_000, now: Date.now } as AppContext;
    for (const { requested, connectionId } of [made, withdrawn]) {
      const of = { userId, type, connectionId, initiatorId };
      const trips = await watched.tripsOf(() => addNotification(app, requested, of));
      expect(trips.map((reads) => reads.map(({ table }) => table).sort())).toEqual([
        ['entries', 'withdrawn'],
      ]);
    }
  });
});
