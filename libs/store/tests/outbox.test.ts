import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventEnvelope } from '@kith/contracts';
import { eventKey, type Outbox } from '@kith/store';
import { availableEngines, createStore, type EngineKind } from '@kith/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openMongo } from '../src/drivers/mongo.ts';
import { openSqlite, transaction } from '../src/drivers/sqlite.ts';
import { eventText } from '../src/outbox/event-text.ts';
import {
  eventsIndexes,
  MongoOutbox,
  marksIndexes,
  outboxFields,
  outboxIndex,
} from '../src/outbox/mongo-outbox.ts';
import { SqliteOutbox, sqliteOutboxTables } from '../src/outbox/sqlite-outbox.ts';

const hour = 3600 * 1000;

interface World extends AsyncDisposable {
  outbox: Outbox;
  /** Stores an event in the same way as a change stores its events. */
  store(event: EventEnvelope): Promise<void>;
  /** Stores many events that are published already. */
  storePublished(events: readonly EventEnvelope[]): Promise<void>;
  /** The stored marks of published batches, as text. */
  marks(): Promise<string>;
}

async function openWorld(engine: EngineKind): Promise<World> {
  await using undo = new AsyncDisposableStack();
  const { config } = undo.use(await createStore(engine));
  if (config.kind === 'sqlite') {
    const db = undo.use(openSqlite({ file: config.file, migrations: sqliteOutboxTables }));
    const outbox = new SqliteOutbox(db);
    const kept = undo.move();
    return {
      outbox,
      store: async (event) => outbox.add(event),
      async storePublished(events) {
        transaction(db, () => {
          for (const event of events) outbox.add(event);
        });
        await outbox.markPublished(events.map(eventKey));
      },
      marks: async () => JSON.stringify(db.prepare('SELECT * FROM marks').all()),
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  }
  const schema = {
    version: 1,
    collections: { things: [outboxIndex], events: eventsIndexes, marks: marksIndexes },
  };
  const { db } = undo.adopt(await openMongo({ ...config, schema }), (opened) => opened.close());
  const kept = undo.move();
  return {
    outbox: new MongoOutbox(db, ['things']),
    marks: async () => JSON.stringify(await db.collection('marks').find().toArray()),
    async store(event) {
      await db
        .collection<{ _id: string }>('things')
        .insertOne({ _id: randomUUID(), ...outboxFields([event]) });
    },
    async storePublished(events) {
      const [at, expireAt] = [new Date(), new Date(Date.now() + 7 * 24 * hour)];
      const rows = events.map((event) => ({ _id: eventKey(event), event: eventText(event), at, expireAt }));
      await db.collection<(typeof rows)[number]>('events').insertMany(rows);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

describe.each(availableEngines())('an outbox (%s)', (engine) => {
  const projectId = randomUUID();
  const range = { from: `${projectId}|thing|`, to: `${projectId}|thing}` };
  let world: World;
  beforeEach(async () => {
    world = await openWorld(engine);
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const event = (id: string, data: unknown = {}): EventEnvelope => ({
    id: randomUUID(),
    type: 'thing.made',
    version: 1,
    projectId,
    occurredAt: new Date().toISOString(),
    actorId: null,
    aggregate: { type: 'thing', id, seq: 1 },
    data,
  });
  const keys = async (telling?: string, limit = 10) => {
    const found = await world.outbox.published({ ...range, ...(telling && { telling }) }, limit);
    return found.map(({ key }) => key);
  };

  test('returns the time at which an event was stored, and finds published events by key and by their text', async () => {
    const { outbox, store } = world;
    const [a, b, c] = [event('a', { of: 'x.y' }), event('b', { of: 'x-y' }), event('c')];
    const before = Date.now();
    for (const one of [c, b, a]) await store(one);
    const stored = await outbox.unpublished(10);
    expect(stored).toHaveLength(3);
    for (const { at } of stored) expect(at).toBeGreaterThanOrEqual(before - 1_000);
    expect(await keys()).toEqual([]);
    await outbox.markPublished([a, b].map(eventKey));
    expect(await keys()).toEqual([a, b].map(eventKey));
    expect(await keys(undefined, 1)).toEqual([eventKey(a)]);
    expect(await keys('"of":"x.y"')).toEqual([eventKey(a)]);
    expect((await outbox.published(range, 1))[0]?.event).toEqual(a);
  });

  test('searches many events, and other work runs meanwhile', async () => {
    const many = 4_500;
    const all = Array.from({ length: many }, (_, at) => event(`${at + many}`, { even: at % 2 === 0 }));
    all[0]!.data = all[many - 1]!.data = { of: 'x.y' };
    await world.storePublished(all);
    let turns = 0;
    let isDone = false;
    const counting = (async () => {
      for (; !isDone; turns++) await nextTurn();
    })();
    expect(await keys('"of":"x.y"')).toEqual([all[0]!, all[many - 1]!].map(eventKey));
    isDone = true;
    await counting;
    expect(turns).toBeGreaterThan(2);
    expect(await keys('"of":"x.y"', 1)).toEqual([eventKey(all[0]!)]);
    const even = await keys('"even":true', many);
    expect(even).toEqual(all.filter(({ data }) => (data as { even?: boolean }).even).map(eventKey));
  });

  test('a repeated search finds the events that were published since the previous search, and other work runs meanwhile', async () => {
    const { outbox, store, storePublished } = world;
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    onTestFinished(() => void vi.useRealTimers());
    const many = 1_500;
    const made = (name: string) => Array.from({ length: many }, (_, at) => event(`${name}${at + many}`));
    const [early, waiting, between, late] = [made('early'), event('waiting'), made('b'), made('c')];
    await storePublished(early);
    vi.setSystemTime(start + 1);
    await store(waiting);
    await outbox.unpublished(1);
    vi.setSystemTime(start + 2 * hour);
    const since = await outbox.horizon();
    vi.setSystemTime(start + 3 * hour);
    await storePublished(between);
    vi.setSystemTime(start + 4 * hour);
    await storePublished([...late, { ...event('elsewhere'), projectId: randomUUID() }]);
    await outbox.markPublished([eventKey(waiting)]);
    const newOnes = [...between, ...late, waiting].map(eventKey).toSorted();
    const found = async (limit: number, from = range.from) =>
      (await outbox.published({ ...range, from, since }, limit)).map(({ key }) => key);
    let turns = 0;
    let isDone = false;
    const counting = (async () => {
      for (; !isDone; turns++) await nextTurn();
    })();
    expect(await found(3 * many)).toEqual(newOnes);
    isDone = true;
    await counting;
    expect(turns).toBeGreaterThan(2);
    expect(await found(2, newOnes[0])).toEqual(newOnes.slice(1, 3));
    expect(await outbox.published({ ...range, telling: 'no such text', since }, 9)).toEqual([]);
  });

  test('returns the time at which an event was stored, even if the event itself has a time in the future', async () => {
    const { outbox, store } = world;
    await store({ ...event('a'), occurredAt: new Date(Date.now() + 365 * 24 * 3600 * 1000).toISOString() });
    const [{ at } = { at: 0 }] = await outbox.unpublished(10);
    expect(Math.abs(at - Date.now())).toBeLessThan(60_000);
  });

  test('removes only published events', async () => {
    const { outbox, store } = world;
    const [out, waiting] = [event('out'), event('waiting')];
    for (const one of [out, waiting]) await store(one);
    await outbox.unpublished(10);
    await outbox.markPublished([eventKey(out)]);
    await outbox.forget([out, waiting].map(eventKey));
    expect(await keys()).toEqual([]);
    expect((await outbox.unpublished(10)).map(({ key }) => key)).toEqual([eventKey(waiting)]);
  });

  test('replaces the content of a published event', async () => {
    const { outbox, store } = world;
    const told = event('told', { name: 'secret' });
    await store(told);
    await outbox.unpublished(10);
    await outbox.markPublished([eventKey(told)], { first: 3, last: 3, id: told.id });
    const blank = { ...told, data: { name: null } };
    await outbox.amend(eventKey(told), blank, 9);
    const [found] = await outbox.published(range, 10);
    expect(found?.event).toEqual(blank);
    if (engine === 'containers') expect(found?.span).toEqual({ first: 9, last: 9 });
    expect(await outbox.unpublished(10)).toEqual([]);
  });

  test('removes only the marks above a position, and publishes their events again', async () => {
    const { outbox, store } = world;
    const all = Array.from({ length: 6 }, (_, at) => event(`${at}`));
    for (const one of all) await store(one);
    await outbox.unpublished(10);
    const mark = (some: EventEnvelope[], last: number) =>
      outbox.markPublished(some.map(eventKey), { first: last, last, id: some[0]!.id });
    // Two relays have published different batches that end with the same event.
    for (const one of all.slice(0, 2)) await mark([one], 4);
    await mark(all.slice(2, 4), 7);
    await mark(all.slice(4, 5), 9);
    // This event was published before positions were kept, so nobody knows whether the log has it.
    await outbox.markPublished(all.slice(5).map(eventKey));
    const idsOf = (some: EventEnvelope[]) => some.map(({ id }) => id).sort();
    const newest = (above = 0, below?: number) => outbox.newest(above, below);
    expect(await newest()).toMatchObject({ position: 9, id: all[4]?.id });
    expect(await newest(0, 9)).toMatchObject({ position: 7, id: all[2]?.id });
    await outbox.unpublish(4, 8);
    expect((await newest())?.position).toBe(9);
    await outbox.unpublish(4, 9);
    expect((await newest())?.position).toBe(4);
    expect(await newest(4)).toBeUndefined();
    expect(await newest(0, 4)).toBeUndefined();
    const waiting = (await outbox.unpublished(10)).map((stored) => stored.event);
    expect(idsOf(waiting)).toEqual(idsOf(all.slice(2, 5)));
    // When these events are marked again, their new positions are found.
    await mark(all.slice(2, 5), 5);
    expect((await newest())?.position).toBe(5);
    expect(await outbox.unpublished(10)).toEqual([]);
    await outbox.unpublish(0, 4);
    expect(idsOf((await outbox.unpublished(10)).map((stored) => stored.event))).toEqual(
      idsOf(all.slice(0, 2)),
    );
  });

  test('a removed event is not published again, and its key is in no mark', async () => {
    const { outbox, store } = world;
    const [gone, stays] = [event('gone'), event('stays')];
    for (const one of [gone, stays]) await store(one);
    await outbox.unpublished(10);
    await outbox.markPublished([gone, stays].map(eventKey), { first: 1, last: 2, id: gone.id });
    await outbox.forget([eventKey(gone)]);
    expect(await world.marks()).not.toContain(eventKey(gone));
    expect(await outbox.newest(0)).toMatchObject({ position: 2, id: gone.id });
    await outbox.unpublish(0, 2);
    expect((await outbox.unpublished(10)).map(({ key }) => key)).toEqual([eventKey(stays)]);
  });

  test('after an event with replaced content is removed, its key is in no mark', async () => {
    const { outbox, store } = world;
    const [gone, stays] = [event('gone'), event('stays')];
    for (const one of [gone, stays]) await store(one);
    await outbox.unpublished(10);
    await outbox.markPublished([gone, stays].map(eventKey), { first: 1, last: 2, id: gone.id });
    await outbox.amend(eventKey(gone), { ...gone, data: { name: null } }, 5);
    await outbox.forget([eventKey(gone)]);
    expect(await world.marks()).not.toContain(eventKey(gone));
    expect(await world.marks()).toContain(eventKey(stays));
  });

  test('stores which log its marks refer to', async () => {
    const { outbox } = world;
    expect(await outbox.fact('log')).toBeUndefined();
    await outbox.noteFact('log', { created: 'one', highest: 9, lostAfter: 3 });
    expect(await outbox.fact('log')).toEqual({ created: 'one', highest: 9, lostAfter: 3 });
    await outbox.noteFact('log', { created: 'another', highest: 0 });
    expect(await outbox.fact('log')).toEqual({ created: 'another', highest: 0 });
  });

  // The embedded form keeps no spans, because its event log finds events by their ids.
  test.runIf(engine === 'containers')(
    'stores the span of all copies, unless the span is unknown',
    async () => {
      const { outbox, store } = world;
      const [once, again, old] = [event('1'), event('2'), event('3')];
      for (const one of [once, again, old]) await store(one);
      await outbox.unpublished(10);
      await outbox.markPublished([once, again].map(eventKey), { first: 5, last: 7, id: once.id });
      await outbox.markPublished([eventKey(again)], { first: 20, last: 21, id: again.id });
      // Marks the event, but keeps no span. This is how events were marked before spans were kept.
      await outbox.markPublished([eventKey(old)]);
      const spans = (await outbox.published(range, 10)).map(({ span }) => span);
      expect(spans).toEqual([{ first: 5, last: 7 }, { first: 5, last: 21 }, undefined]);
    },
  );
});
