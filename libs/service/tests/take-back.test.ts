import { randomUUID } from 'node:crypto';
import { createLogger, Metrics } from '@kith/base';
import type { Bus, OutgoingEvent } from '@kith/bus';
import { InProcessBus } from '@kith/bus/in-process';
import { Relay } from '@kith/service';
import { openSqlite } from '@kith/store/sqlite';
import { SqliteOutbox, sqliteOutboxTables } from '@kith/store/testing';
import { waitFor } from '@kith/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const log = createLogger({ name: 'test', level: 'silent' });
const never = 3_600_000;

/** A broker with its own log. When the log is lost, another log replaces it. */
class Broker {
  #bus = new InProcessBus({ prefix: 'test', file: ':memory:', log });
  #callbacks: (() => void)[] = [];

  /** The connection of one process to the broker. It is the embedded bus, but losses and reconnects are simulated. */
  connect(): InProcessBus {
    return Object.create(this.#bus, {
      publish: { value: (event: OutgoingEvent) => this.#bus.publish(event) },
      log: { value: () => this.#bus.log() },
      idAt: { value: (position: number) => this.#bus.idAt(position) },
      isConnected: { value: () => true },
      onReconnect: { value: (callback: () => void) => this.#callbacks.push(callback) },
    });
  }

  /** Loses the whole log. Then other services publish `others` events. These events take the positions of the lost events. */
  async lose({ isSame = false, others = 0 }: { isSame?: boolean; others?: number } = {}): Promise<void> {
    const { created } = await this.#bus.log();
    await this.#bus.close();
    this.#bus = new InProcessBus({ prefix: 'test', file: ':memory:', log });
    if (isSame) {
      const state = this.#bus.log.bind(this.#bus);
      this.#bus.log = async () => ({ ...(await state()), created });
    }
    for (let at = 0; at < others; at++) {
      await this.#bus.publish({ subject: 'test.event.p.x.y', id: randomUUID(), body: new Uint8Array() });
    }
  }

  reconnect(): void {
    for (const callback of this.#callbacks) callback();
  }

  async ids(): Promise<string[]> {
    const { last } = await this.#bus.log();
    const ids = await Promise.all(Array.from({ length: last }, (_, at) => this.#bus.idAt(at + 1)));
    return ids.filter((id) => id !== undefined);
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}

let broker: Broker;
let outbox: SqliteOutbox;
let relays: Relay[];
let ids: string[];
beforeEach(() => {
  broker = new Broker();
  outbox = new SqliteOutbox(openSqlite({ file: ':memory:', migrations: sqliteOutboxTables }));
  relays = [];
  ids = [];
});
afterEach(async () => {
  for (const relay of relays) await relay.stop();
  await broker.close();
});

/** Stores events, each a millisecond later than the previous event. */
const store = (count: number) => {
  for (let at = 0; at < count; at++) {
    const id = randomUUID();
    ids.push(id);
    outbox.add({
      id,
      type: 'thing.made',
      version: 1,
      projectId: 'p',
      occurredAt: new Date(Date.now() + ids.length).toISOString(),
      actorId: null,
      aggregate: { type: 'thing', id, seq: 1 },
      data: {},
    });
  }
};
/** Starts the relay of a process. */
const start = (parts: { bus?: Bus; outbox?: SqliteOutbox; sweepMs?: number } = {}) => {
  const options = { bus: broker.connect(), outbox, log, metrics: new Metrics(), sweepMs: 20, checkMs: never };
  const relay = new Relay({ ...options, ...parts });
  relays.push(relay);
  return relay;
};
const allAreThere = () =>
  waitFor(async () => {
    const there = new Set(await broker.ids());
    return ids.every((id) => there.has(id));
  });

test('if a process dies before it takes back any mark, the next takes back all, even if more events were published', async () => {
  store(5);
  await start().stop();
  await broker.lose({ isSame: true, others: 3 });
  // The process that finds the loss dies before it has taken back any mark.
  const dying = Object.create(outbox, {
    fact: { value: outbox.fact.bind(outbox) },
    noteFact: { value: outbox.noteFact.bind(outbox) },
    newest: { value: outbox.newest.bind(outbox) },
    unpublish: { value: () => Promise.reject(new Error('died')) },
  });
  await start({ outbox: dying }).stop();
  expect((await outbox.fact('log'))?.lostAfter).toBe(0);
  // Another process, which does not know of the loss, publishes more events than were published before the loss.
  store(20);
  for (const { key, event } of await outbox.unpublished(20)) {
    const body = new Uint8Array();
    const position = await broker
      .connect()
      .publish({ subject: 'test.event.p.thing.made', id: event.id, body });
    await outbox.markPublished([key], { first: position, last: position, id: event.id });
  }
  start();
  await allAreThere();
});

test('marks that lie far apart are taken back in a few steps', async () => {
  store(2);
  for (const [at, { key, event }] of (await outbox.unpublished(2)).entries()) {
    const position = 500_000_000 * (at + 1);
    await outbox.markPublished([key], { first: position, last: position, id: event.id });
  }
  await outbox.noteFact('log', { created: 'another log', highest: 0 });
  const unpublish = vi.spyOn(outbox, 'unpublish');
  start();
  await allAreThere();
  expect(unpublish).toHaveBeenCalledTimes(2);
});

test('a batch during which the connection broke is published again', async () => {
  const { promise: isLost, resolve } = Promise.withResolvers<void>();
  const bus = broker.connect();
  const publish = bus.publish.bind(bus);
  let count = 0;
  const breaking: Bus = Object.create(bus, {
    publish: {
      async value(event: OutgoingEvent) {
        const isFirst = ++count === 1;
        if (!isFirst) await isLost;
        const position = await publish(event);
        if (!isFirst) return position;
        // The event is acknowledged and then lost. The next event gets a position far beyond the position of the lost event.
        await broker.lose({ isSame: true, others: 9 });
        broker.reconnect();
        resolve();
        return position;
      },
    },
  });
  store(2);
  start({ bus: breaking });
  await isLost;
  await allAreThere();
  expect(count).toBeGreaterThan(2);
});

test('lost events are published again immediately, even if the relay has skipped an event that fails', async () => {
  let refusals = 0;
  const bus = broker.connect();
  const publish = bus.publish.bind(bus);
  const refusing: Bus = Object.create(bus, {
    publish: {
      async value(event: OutgoingEvent) {
        if (event.id !== ids[3]) return publish(event);
        refusals++;
        throw new Error('refused');
      },
    },
  });
  store(4);
  start({ bus: refusing, sweepMs: never });
  await waitFor(async () => refusals > 0 && (await broker.ids()).length === 3);
  await broker.lose();
  broker.reconnect();
  await waitFor(async () => (await broker.ids()).length === 3);
  expect(new Set(await broker.ids())).toEqual(new Set(ids.slice(0, 3)));
});
