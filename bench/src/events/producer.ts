import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { createLogger, Metrics } from '@kith/base';
import type { Bus } from '@kith/bus';
import { type EventEnvelope, eventSubject } from '@kith/contracts';
import { Relay } from '@kith/service';
import type { Outbox } from '@kith/store';
import { userEvent } from './user-events.ts';

/** The bus and the store of a service that stores and publishes events. */
export interface Producer {
  bus: Bus;
  outbox: Outbox;
  /** Stores events, each together with the change that it announces. */
  store(events: readonly EventEnvelope[]): Promise<void>;
}

/**
 * What to do with the given events. `publish` only publishes them on the bus. `relay` stores all of them, and then makes a
 * relay publish them. `burst` makes the relay publish them while they are being stored.
 */
export type Phase = 'publish' | 'relay' | 'burst';

/** Consecutive events in the benchmark's order, beginning with number `from`. */
export interface Some {
  from: number;
  count: number;
}

/** How many events are stored or published in one step: as many as a relay publishes in one step. */
const atOnce = 100;

/** Runs a phase, and resolves with its rate in events per second. */
export async function produce(producer: Producer, phase: Phase, some: Some): Promise<number> {
  if (phase === 'publish') return publishing(producer.bus, some);
  if (phase === 'relay') await storing(producer, some, () => {});
  const metrics = new Metrics();
  const published = async () => (await metrics.eventsPublished.get()).values[0]?.value ?? 0;
  const log = createLogger({ name: 'bench', level: 'warn' });
  const began = performance.now();
  const relay = new Relay({ bus: producer.bus, outbox: producer.outbox, log, metrics });
  try {
    if (phase === 'burst') await storing(producer, some, () => relay.kick());
    while ((await published()) < some.count) await pause(20);
    return some.count / ((performance.now() - began) / 1_000);
  } finally {
    await relay.stop();
  }
}

async function publishing(bus: Bus, some: Some): Promise<number> {
  const began = performance.now();
  await inChunks(some, async (events) => {
    await Promise.all(
      events.map((event) =>
        bus.publish({
          subject: eventSubject(bus.prefix, event),
          id: event.id,
          body: new TextEncoder().encode(JSON.stringify(event)),
        }),
      ),
    );
  });
  return some.count / ((performance.now() - began) / 1_000);
}

function storing(producer: Producer, some: Some, stored: () => void): Promise<void> {
  return inChunks(some, async (events) => {
    await producer.store(events);
    stored();
  });
}

async function inChunks({ from, count }: Some, work: (events: EventEnvelope[]) => Promise<void>) {
  for (let at = 0; at < count; at += atOnce) {
    const length = Math.min(atOnce, count - at);
    await work(Array.from({ length }, (_, place) => userEvent(from + at + place)));
    // Gives a turn to other code in this process, such as a consumer. The code above may never wait for anything, and then no
    // other code would run.
    await nextTurn();
  }
}
