import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger, Metrics } from '@kith/base';
import type { Bus } from '@kith/bus';
import { type EventEnvelope, eventSubject } from '@kith/contracts';
import { Relay } from '@kith/service';
import type { Copies } from '@kith/store';
import { openSqlite } from '@kith/store/sqlite';
import { SqliteOutbox, sqliteOutboxTables } from '@kith/store/testing';
import { createBus, waitFor } from '@kith/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let bus: Bus & AsyncDisposable;
let outbox: SqliteOutbox;
let arrived: EventEnvelope[];
let metrics: Metrics;
let relays: Relay[];
/** Whether the broker refuses an event. */
let refused: (event: EventEnvelope) => boolean;

beforeEach(async () => {
  bus = await createBus('embedded');
  outbox = new SqliteOutbox(openSqlite({ file: ':memory:', migrations: sqliteOutboxTables }));
  metrics = new Metrics();
  arrived = [];
  relays = [];
  refused = () => false;
  await bus.consume({ durable: 'test', subjects: [`${bus.prefix}.event.>`] }, async ({ body }) => {
    arrived.push(JSON.parse(new TextDecoder().decode(body)));
  });
});
afterEach(async () => {
  for (const relay of relays) await relay.stop();
  await bus[Symbol.asyncDispose]();
});

/** Stores an event as if the current time were `at`. */
const store = (id: string, seq = 1, at = Date.now()) => {
  using _clock = vi.spyOn(Date, 'now').mockReturnValue(at);
  outbox.add({
    id: randomUUID(),
    type: 'thing.made',
    version: 1,
    projectId: randomUUID(),
    occurredAt: new Date(at).toISOString(),
    actorId: null,
    aggregate: { type: 'thing', id, seq },
    data: {},
  });
};
/** Starts a relay on the real bus, except that the bus refuses an event if `refused` returns true for it. */
const start = (sweepMs: number) => {
  const moody: Bus = Object.create(bus, {
    isConnected: { value: () => bus.isConnected() },
    log: { value: () => bus.log() },
    idAt: { value: (position: number) => bus.idAt(position) },
    onReconnect: { value: () => {} },
    publish: {
      value: async (event: Parameters<Bus['publish']>[0]) => {
        if (refused(JSON.parse(new TextDecoder().decode(event.body)))) throw new Error('broker is away');
        return bus.publish(event);
      },
    },
  });
  const log = createLogger({ name: 'test', level: 'silent' });
  const relay = new Relay({ bus: moody, outbox, log, metrics, sweepMs });
  relays.push(relay);
  return relay;
};
const ids = () => arrived.map(({ aggregate }) => aggregate.id).sort();
const never = 3_600_000;
const value = async (metric: string) =>
  Number((await metrics.registry.getSingleMetricAsString(metric)).split(' ').at(-1));

test('a relay publishes the unpublished events of an earlier process, and new events after a kick', async () => {
  store('left');
  const relay = start(never);
  await waitFor(() => ids().includes('left'));
  store('new');
  relay.kick();
  await waitFor(() => ids().includes('new'));
  expect(ids()).toEqual(['left', 'new']);
  await waitFor(async () => (await outbox.unpublished(10)).length === 0);
  expect(await metrics.registry.getSingleMetricAsString('kith_events_published_total')).toMatch(/ 2$/m);
});

test('a relay gathers events that may wait, and publishes them together; an urgent event ends the wait', async () => {
  let looks = 0;
  const find = outbox.unpublished.bind(outbox);
  outbox.unpublished = (limit, past) => {
    looks++;
    return find(limit, past);
  };
  const relay = start(never);
  await waitFor(() => looks > 0);
  await nextTurn();
  looks = 0;
  for (const name of ['one', 'two', 'three']) {
    store(name);
    relay.kick({ within: 1_000 });
    await nextTurn();
  }
  await waitFor(() => arrived.length === 3);
  expect(looks).toBe(1);
  relay.kick({ within: never });
  store('four');
  relay.kick();
  await waitFor(() => arrived.length === 4);
});

test('a relay publishes more than one batch in one run', async () => {
  for (let count = 0; count < 350; count++) store(`many-${count}`);
  start(never);
  await waitFor(() => arrived.length === 350);
  expect(new Set(ids()).size).toBe(350);
});

test('a relay yields to the event loop while it publishes and delivers a backlog', async () => {
  const count = 3_000;
  for (let made = 0; made < count; made++) store(`many-${made}`);
  start(never);
  await nextTurn();
  expect(await outbox.unpublished(1)).toHaveLength(1);
  // If the relay kept the event loop busy until the last delivery, this loop would run only a few times.
  let turns = 0;
  while (arrived.length < count) {
    await nextTurn();
    turns++;
  }
  // A relay that yields lets this loop run about once per batch of 100 events.
  expect(turns).toBeGreaterThan(count / 200);
});

test('a relay tries refused events again, and does not delay other events', async () => {
  let refusals = 0;
  refused = ({ aggregate }) => aggregate.id === 'hard' && ++refusals < 4;
  store('hard');
  store('easy');
  const relay = start(20);
  relay.kick();
  await waitFor(() => ids().includes('hard'));
  expect(ids()).toEqual(['easy', 'hard']);
  expect(refusals).toBe(4);
});

test('a relay tries refused events again, even if new events arrive all the time', async () => {
  let refusals = 0;
  let count = 0;
  let relay: Relay | undefined;
  refused = ({ aggregate }) => {
    if (aggregate.id === 'hard') return ++refusals < 4;
    // Each event is followed by another event. So the relay finds something to publish whenever it looks.
    store(`new-${count++}`);
    relay?.kick();
    return false;
  };
  store('hard');
  store('first');
  relay = start(20);
  await waitFor(() => ids().includes('hard'));
  expect(refusals).toBe(4);
  expect(count).toBeGreaterThan(4);
});

test('a relay skips events that cannot be published, and publishes all later events in the first sweep', async () => {
  let sweeps = 0;
  refused = ({ aggregate }) => aggregate.id.startsWith('never');
  const find = outbox.unpublished.bind(outbox);
  outbox.unpublished = (limit, past) => {
    if (!past) sweeps++;
    return find(limit, past);
  };
  for (let count = 0; count < 250; count++) store(`never-${count}`);
  for (let count = 0; count < 120; count++) store(`behind-${count}`);
  const relay = start(never);
  await waitFor(() => arrived.length === 120);
  expect(sweeps).toBe(1);
  store('later');
  relay.kick();
  await waitFor(() => ids().includes('later'));
  expect(await find(1_000)).toHaveLength(250);
  refused = () => false;
  start(never);
  await waitFor(() => arrived.length === 371);
});

test('a relay keeps events that it cannot publish, and the next relay publishes them', async () => {
  refused = () => true;
  store('kept');
  const relay = start(never);
  await relay.stop();
  await relay.stop();
  expect((await outbox.unpublished(10)).map(({ event }) => event.aggregate.id)).toEqual(['kept']);
  refused = () => false;
  start(never);
  await waitFor(() => ids().includes('kept'));
});

test('a relay reports the age of the oldest unpublished event, and the number of failed attempts', async () => {
  refused = ({ aggregate }) => aggregate.id === 'stuck';
  store('stuck', 1, Date.now() - 90_000);
  store('easy');
  const relay = start(20);
  await waitFor(async () => (await value('kith_events_unpublished_age_seconds')) >= 90);
  await waitFor(async () => (await value('kith_events_publish_failures_total')) > 1);
  refused = () => false;
  relay.kick();
  await waitFor(async () => (await value('kith_events_unpublished_age_seconds')) === 0);
  expect(ids()).toEqual(['easy', 'stuck']);
});

test('a relay reports the age of the oldest event even if the log does not answer', async () => {
  bus.log = () => Promise.reject(new Error('no log'));
  start(20);
  store('waiting', 1, Date.now() - 90_000);
  await waitFor(async () => (await value('kith_events_unpublished_age_seconds')) >= 90);
  expect(ids()).toEqual([]);
});

test('a relay publishes events that were stored shortly before its stop', async () => {
  const relay = start(never);
  await waitFor(async () => (await outbox.unpublished(1)).length === 0);
  store('last');
  await relay.stop();
  expect(await outbox.unpublished(10)).toEqual([]);
  await waitFor(() => ids().includes('last'));
});

test('a relay stops only when all work that it has begun has ended', async () => {
  const order: string[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const mark = outbox.markPublished.bind(outbox);
  outbox.markPublished = async (keys: readonly string[]) => {
    outbox.markPublished = mark;
    await gate;
    await mark(keys);
    order.push('marked');
  };
  store('slow');
  const relay = start(never);
  await waitFor(() => ids().includes('slow'));
  const stopped = relay.stop().then(() => order.push('stopped'));
  // A stop that does not wait would have ended by now.
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  open();
  await stopped;
  await waitFor(() => order.length === 2);
  expect(order).toEqual(['marked', 'stopped']);
});

test('a relay stores the span of log positions of published events; the span begins at 0 if an event may have been published before', async () => {
  const spans = new Map<string, Copies | undefined>();
  const mark = outbox.markPublished.bind(outbox);
  outbox.markPublished = async (keys: readonly string[], span?: Copies) => {
    for (const key of keys) spans.set(key.split('|')[2] ?? '', span);
    await mark(keys);
  };
  const before = await bus.publish({ subject: `${bus.prefix}.event.p.x.y`, id: 'x', body: new Uint8Array() });
  store('new-1');
  store('new-2');
  store('old', 1, Date.now() - 120_000);
  start(never);
  await waitFor(() => spans.size === 3);
  expect(spans.get('old')).toMatchObject({ first: 0, last: before + 1 });
  expect(spans.get('new-1')).toMatchObject({ first: before + 2, last: before + 3 });
  expect(spans.get('new-2')).toEqual(spans.get('new-1'));
});

test('a relay that was frozen does not bring back an event that another process has published and erased meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    store('erased');
    const find = outbox.unpublished.bind(outbox);
    outbox.unpublished = async (limit, past) => {
      outbox.unpublished = find;
      const found = await find(limit, past);
      for (const { key, event } of found) {
        const subject = eventSubject(bus.prefix, event);
        await bus.publish({ subject, id: event.id, body: new TextEncoder().encode(JSON.stringify(event)) });
        await outbox.markPublished([key]);
        await bus.withdraw([{ subject, id: event.id }]);
        await outbox.forget([key]);
      }
      // The broker does not remember an event for this long.
      vi.advanceTimersByTime(150_000);
      return found;
    };
    await start(never).stop();
    const { first, last } = await bus.log();
    expect({ first, last }).toEqual({ first: 2, last: 1 });
  } finally {
    vi.useRealTimers();
  }
});

test('two relays on one outbox publish all of its events, and nothing else', async () => {
  for (let count = 0; count < 50; count++) store(`shared-${count}`);
  const both = [start(20), start(20)];
  for (const relay of both) relay.kick();
  await waitFor(() => arrived.length === 50);
  for (const relay of both) await relay.stop();
  expect(new Set(ids()).size).toBe(50);
});
