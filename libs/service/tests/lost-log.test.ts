// Starts no platform and at most 60 processes.
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger, Metrics } from '@kith/base';
import type { Bus, Intake } from '@kith/bus';
import { InProcessBus } from '@kith/bus/in-process';
import { NatsBus } from '@kith/bus/nats';
import { Relay } from '@kith/service';
import { openSqlite } from '@kith/store/sqlite';
import { SqliteOutbox, sqliteOutboxTables } from '@kith/store/testing';
import { availableEngines, type EngineKind, startOwnNats, uniquePrefix, waitFor } from '@kith/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

const log = createLogger({ name: 'test', level: 'silent' });
const never = 3_600_000;

/** A broker that may lose its files. */
interface Broker extends AsyncDisposable {
  /** Connects to the bus. In the embedded form, call this again after a loss: a new process then starts, with a new bus. */
  connect(prefix: string): Promise<Bus>;
  remember(): Promise<void>;
  /** Sets the broker's files back to the remembered copy, or removes the files. */
  lose(to: 'copy' | 'nothing'): Promise<void>;
}

async function startBroker(engine: EngineKind): Promise<Broker> {
  if (engine === 'containers') {
    const nats = await startOwnNats();
    const connect = (prefix: string) => NatsBus.connect({ url: nats.server.url, name: 'test', prefix, log });
    return Object.assign(nats, { connect });
  }
  const folder = await mkdtemp(join(tmpdir(), 'kith-lost-log-'));
  const [data, copy] = [join(folder, 'data'), join(folder, 'copy')];
  mkdirSync(data);
  mkdirSync(copy);
  return {
    // Like an installation, each test has a prefix of its own, and so it has a log of its own.
    connect: async (prefix) => new InProcessBus({ prefix, file: join(data, `${prefix}.sqlite`), log }),
    async remember() {
      cpSync(data, copy, { recursive: true });
    },
    async lose(to) {
      rmSync(data, { recursive: true });
      if (to === 'copy') cpSync(copy, data, { recursive: true });
      else mkdirSync(data);
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true });
    },
  };
}

/** A service's store and relay. After a loss, the relay may run in a new process. */
class Producer {
  readonly outbox = new SqliteOutbox(openSqlite({ file: ':memory:', migrations: sqliteOutboxTables }));
  readonly ids: string[] = [];
  #relay: Relay | undefined;

  start(bus: Bus, checkMs = never): void {
    this.#relay = new Relay({ bus, outbox: this.outbox, log, metrics: new Metrics(), sweepMs: 50, checkMs });
  }

  store(count: number): void {
    for (let at = 0; at < count; at++) {
      const id = randomUUID();
      this.ids.push(id);
      this.outbox.add({
        id,
        type: 'thing.made',
        version: 1,
        projectId: randomUUID(),
        occurredAt: new Date().toISOString(),
        actorId: null,
        aggregate: { type: 'thing', id, seq: 1 },
        data: {},
      });
    }
    this.#relay?.kick();
  }

  async published(): Promise<void> {
    await waitFor(async () => (await this.outbox.unpublished(1)).length === 0);
  }

  async stop(): Promise<void> {
    await this.#relay?.stop();
  }
}

describe.each(availableEngines())('a log that has lost events (%s)', (engine) => {
  let broker: Broker;
  let undo: AsyncDisposableStack;
  beforeAll(async () => {
    broker = await startBroker(engine);
  });
  afterAll(() => broker[Symbol.asyncDispose]());
  afterEach(() => undo.disposeAsync());

  /** Starts two services on one bus, with two consumers. One consumer can be paused, and the other runs all the time. */
  async function start() {
    undo = new AsyncDisposableStack();
    const producers = [new Producer(), new Producer()] as const;
    const durable = `things-${randomUUID()}`;
    const seen = new Set<string>();
    const seenByRunning = new Set<string>();
    const prefix = uniquePrefix();
    let bus: Bus;
    let intake: Intake | undefined;
    const consume = async () => {
      const options = { durable, subjects: [`${bus.prefix}.event.>`] };
      intake = await bus.consume(options, async ({ id }) => void seen.add(id));
    };
    const open = async (some: readonly Producer[] = producers) => {
      bus = await broker.connect(prefix);
      for (const producer of some) producer.start(bus);
      await consume();
      const running = { durable: `running-${durable}`, subjects: [`${bus.prefix}.event.>`] };
      await bus.consume(running, async ({ id }) => void seenByRunning.add(id));
    };
    const close = async () => {
      for (const producer of producers) await producer.stop();
      await bus.close();
    };
    await open();
    undo.defer(close);
    return {
      producers,
      seen,
      open,
      close,
      pause: async () => intake?.drain(),
      resume: consume,
      /** Waits until all stored events have reached both consumers. */
      allArrive: () =>
        waitFor(
          () => producers.every(({ ids }) => ids.every((id) => seen.has(id) && seenByRunning.has(id))),
          { what: 'all events' },
        ),
    };
  }

  // The embedded log cannot be lost while a process uses the log.
  const ways = engine === 'embedded' ? ['restarted'] : ['running', 'restarted'];

  test.each(ways)('with a new log and %s services, all events are published again', async (way) => {
    const world = await start();
    await world.pause();
    for (const producer of world.producers) producer.store(5);
    for (const producer of world.producers) await producer.published();
    expect(world.seen.size).toBe(0);
    if (way === 'restarted') await world.close();
    await broker.lose('nothing');
    if (way === 'restarted') await world.open();
    else await world.resume();
    await world.allArrive();
  });

  test.each(ways)(
    'with an older copy of the log and %s services, the lost events are published again',
    async (way) => {
      const world = await start();
      const [one, other] = world.producers;
      one.store(5);
      other.store(5);
      await world.allArrive();
      await broker.remember();
      await world.pause();
      for (const count of [1, 2, 120]) {
        one.store(count);
        await one.published();
      }
      expect(world.seen.size).toBe(10);
      // The other service's events take the positions of the lost events. This happens before the first service checks the log.
      if (way === 'restarted') {
        await world.close();
        await broker.lose('copy');
        other.store(200);
        await world.open([other]);
        await other.published();
        await world.close();
        await world.open([one]);
      } else {
        await broker.lose('copy');
        other.store(200);
        await world.resume();
      }
      await world.allArrive();
    },
  );
});

test.runIf(availableEngines().includes('containers'))(
  'a delivery from before the broker lost its files does not acknowledge the event that has its number now',
  async () => {
    await using ends = new AsyncDisposableStack();
    const nats = ends.use(await startOwnNats());
    const prefix = uniquePrefix();
    const connected = await NatsBus.connect({ url: nats.server.url, name: 'test', prefix, log });
    const bus = ends.adopt(connected, (one) => one.close());
    const publish = (id: string) =>
      bus.publish({ subject: `${prefix}.event.p.thing.made`, id, body: new Uint8Array() });
    const deliveries: string[] = [];
    const { promise: lastOfAll, resolve: letGo } = Promise.withResolvers<void>();
    // The bus cannot close while this delivery is under way, so the delivery is ended first.
    ends.defer(letGo);
    const options = { durable: 't', subjects: [`${prefix}.event.>`], atOnce: 2, backoffMs: [10] };
    await bus.consume(options, async ({ id }) => {
      deliveries.push(id);
      if (id === 'before') return lastOfAll;
      if (deliveries.filter((one) => one === id).length > 1) return;
      letGo();
      // After this turn of the event loop, the bus has reported the outcome of the very first delivery.
      await nextTurn();
      throw new Error('not yet');
    });
    await publish('before');
    await waitFor(() => deliveries.includes('before'));
    await nats.lose('nothing');
    await waitFor(() => publish('after').then(() => true), { what: 'the broker' });
    await waitFor(() => deliveries.filter((id) => id === 'after').length === 2, {
      what: 'the second delivery',
    });
    expect(deliveries).toEqual(['before', 'after', 'after']);
  },
);
