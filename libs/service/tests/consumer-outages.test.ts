import { randomUUID } from 'node:crypto';
import { BusWrapper, type ConsumeOptions, type Delivery } from '@kith/bus';
import { eventSubject } from '@kith/contracts';
import { type RunningService, startService } from '@kith/service';
import { availableEngines, createRuntime, waitFor } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { subscription } from '../src/events/subscribe.ts';

const made = { type: 'thing.made', version: 1, data: z.object({}) } as const;

/**
 * A bus that gives up an event after the third attempt. If there is no sign of progress for 4 s, it gives the event to
 * another process.
 */
class ImpatientBus extends BusWrapper {
  override consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>) {
    return super.consume({ ...options, maxDeliveries: 3, backoffMs: [10], ackWaitMs: 4_000 }, handle);
  }
}

describe.each(availableEngines())('a consumer whose database is away (%s)', (engine) => {
  /** Starts a service whose store can be made unavailable. */
  async function start(undo: AsyncDisposableStack) {
    const runtime = undo.use(await createRuntime(engine));
    const bus = new ImpatientBus(runtime.bus);
    const project = randomUUID();
    const store = { isAway: false, looks: 0 };
    const applied: string[] = [];
    let attempts = 0;
    const use = async () => {
      if (store.isAway) throw new Error('the database is away');
    };
    const service: RunningService = await startService(
      { ...runtime, bus, storeTimes: { everyMs: 20 } },
      {
        name: 'test',
        operations: {},
        subscriptions: [
          subscription({
            durable: `test-${project}`,
            events: [made],
            async apply({ id, actorId }) {
              attempts++;
              await use();
              if (actorId === 'poison') throw new Error('cannot be applied');
              applied.push(id);
            },
          }),
        ],
      },
      {
        app: undefined,
        async checkStore() {
          store.looks++;
          await use();
        },
      },
    );
    undo.defer(() => service.stop());
    const tell = async (actorId: string | null = null) => {
      const event = {
        id: randomUUID(),
        type: made.type,
        version: made.version,
        projectId: project,
        occurredAt: new Date().toISOString(),
        actorId,
        aggregate: { type: 'thing', id: randomUUID(), seq: 1 },
        data: {},
      };
      const body = new TextEncoder().encode(JSON.stringify(event));
      await bus.publish({ subject: eventSubject(bus.prefix, event), id: event.id, body });
      return event.id;
    };
    const dead = async () => (await bus.deadLetters(`test-${project}`)).map(({ id }) => id);
    return { service, store, applied, tell, dead, attempts: () => attempts };
  }

  test('gives up no event during a long outage, and applies all of them afterwards', {
    timeout: 90_000,
  }, async () => {
    await using undo = new AsyncDisposableStack();
    const { store, applied, tell, dead, attempts } = await start(undo);
    store.isAway = true;
    const told = await Promise.all(Array.from({ length: 10 }, () => tell()));
    await waitFor(() => attempts() > 0);
    // 400 checks of the store take at least eight seconds. Without a sign of progress, the bus would give the events to another
    // process after half of this time.
    const from = store.looks;
    await waitFor(() => store.looks > from + 400, { timeoutMs: 60_000 });
    expect(await dead()).toEqual([]);
    expect(attempts()).toBeLessThanOrEqual(4);
    store.isAway = false;
    await waitFor(() => new Set(applied).size === told.length);
    expect([...new Set(applied)].toSorted()).toEqual(told.toSorted());
    expect(await dead()).toEqual([]);
  });

  test('gives up an event that fails while the database is available', async () => {
    await using undo = new AsyncDisposableStack();
    const { applied, tell, dead } = await start(undo);
    const poison = await tell('poison');
    const healthy = await tell();
    await waitFor(() => applied.includes(healthy));
    await waitFor(async () => (await dead()).includes(poison));
    expect(await dead()).toEqual([poison]);
  });

  test('lets its service stop while it waits for the database, and another process gets the events', async () => {
    await using undo = new AsyncDisposableStack();
    const { service, store, tell, attempts, dead } = await start(undo);
    store.isAway = true;
    await tell();
    await waitFor(() => attempts() > 0);
    await service.stop();
    expect(await dead()).toEqual([]);
  });
});

describe.each(availableEngines())('many events that cannot be applied (%s)', (engine) => {
  test('events that cannot be applied do not delay an event that can be applied', async () => {
    await using runtime = await createRuntime(engine);
    const { bus } = runtime;
    const project = randomUUID();
    const subject = `${bus.prefix}.event.${project}.thing.made`;
    const body = new TextEncoder().encode('{}');
    const publish = (id: string) => bus.publish({ subject, id, body });
    for (let at = 0; at < 1_100; at += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, n) => publish(`poison-${project}-${at + n}`)));
    }
    await publish(`healthy-${project}`);
    const applied: string[] = [];
    const options = { durable: `crowded-${project}`, subjects: [subject], atOnce: 4, backoffMs: [3_600_000] };
    const intake = await bus.consume(options, async ({ id }) => {
      if (id.startsWith('poison')) throw new Error('cannot be applied');
      applied.push(id);
    });
    await waitFor(() => applied.length > 0);
    expect(applied).toEqual([`healthy-${project}`]);
    await intake.drain();
  });
});
