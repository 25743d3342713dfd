import { randomUUID } from 'node:crypto';
import { eventSubject } from '@kith/contracts';
import { startService } from '@kith/service';
import { openDocuments } from '@kith/store/open';
import { availableEngines, createRuntime, createStore, waitFor } from '@kith/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkForMissed } from '../src/events/missed-events.ts';
import { subscription } from '../src/events/subscribe.ts';

const made = { type: 'thing.made', version: 1, data: z.object({}) } as const;
const durable = 'test-things';
const dayMs = 24 * 3600 * 1000;

describe.each(availableEngines())('events that a consumer has missed (%s)', (engine) => {
  let undo: AsyncDisposableStack;
  let runtime: Awaited<ReturnType<typeof createRuntime>>;
  let store: Awaited<ReturnType<typeof createStore>>;
  beforeEach(async () => {
    undo = new AsyncDisposableStack();
    runtime = undo.use(await createRuntime(engine));
    store = undo.use(await createStore(engine));
  });
  afterEach(() => undo.disposeAsync());

  /** Starts the service, and waits until it has checked its consumer. */
  async function start() {
    const documents = await openDocuments(store.config, { collections: [] });
    const { outbox } = documents;
    const before = (await outbox.fact('heard'))?.durables[durable]?.at;
    const service = await startService(
      runtime,
      {
        name: 'test',
        operations: {},
        subscriptions: [subscription({ durable, events: [made], apply: async () => undefined })],
      },
      { app: undefined, outbox, close: () => documents.close() },
    );
    // The embedded log keeps events until all consumers have received them, so nothing is noted there.
    if (engine === 'containers')
      await waitFor(async () => (await outbox.fact('heard'))?.durables[durable]?.at !== before);
    return { outbox, stop: () => service.stop() };
  }

  /**
   * Runs the service. The service notes a time at which its consumer has received all events. Moves this time back by some
   * days.
   */
  async function runBefore(days: number): Promise<void> {
    const { outbox, stop } = await start();
    const heard = await outbox.fact('heard');
    const note = heard?.durables[durable];
    if (note) note.at -= days * dayMs;
    if (heard) await outbox.noteFact('heard', heard);
    await stop();
  }

  /** Publishes events. With `gone`, they are then removed from the log, as old events are. */
  async function publish(count: number, { type = made.type as string, gone = false } = {}) {
    const published: { subject: string; id: string; position: number }[] = [];
    for (let at = 0; at < count; at++) {
      const content = {
        id: randomUUID(),
        type,
        version: 1,
        projectId: randomUUID(),
        occurredAt: new Date().toISOString(),
        actorId: null,
        aggregate: { type: 'thing', id: randomUUID(), seq: 1 },
        data: {},
      };
      const subject = eventSubject(runtime.bus.prefix, content);
      const body = new TextEncoder().encode(JSON.stringify(content));
      const position = await runtime.bus.publish({ subject, id: content.id, body });
      published.push({ subject, id: content.id, position });
    }
    if (gone) await runtime.bus.withdraw(published);
    return published;
  }

  const missed = async () => {
    const { values } = await runtime.metrics.eventsMissed.get();
    return values.find(({ labels }) => labels.durable === durable)?.value ?? 0;
  };

  test('a consumer is reported once if it was away for a week, and events have left the log since', async () => {
    await runBefore(8);
    await publish(3, { gone: true });
    await (await start()).stop();
    await (await start()).stop();
    // The embedded log would have kept these events.
    expect(await missed()).toBe(engine === 'containers' ? 1 : 0);
  });

  test('a consumer is not reported if no event has left the log, or if only withdrawn events have left the log', async () => {
    await publish(3, { type: 'other.made', gone: true });
    await runBefore(8);
    await (await start()).stop();
    await runBefore(6);
    await publish(3, { gone: true });
    await (await start()).stop();
    expect(await missed()).toBe(0);
  });

  test.each([
    { keepsUp: true, title: 'a consumer that keeps up is not reported, even if it is never without events' },
    {
      keepsUp: false,
      title: 'a consumer that does not keep up is reported, even if it is checked all the time',
    },
  ])('$title', async ({ keepsUp }) => {
    const { bus, metrics, log } = runtime;
    const documents = undo.adopt(await openDocuments(store.config, { collections: [] }), (one) =>
      one.close(),
    );
    const { outbox } = documents;
    const works = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
    let begun = 0;
    const subjects = [`${bus.prefix}.event.>`];
    const intake = await bus.consume(
      { durable, subjects },
      () => works[begun++]?.promise ?? Promise.resolve(),
    );
    const check = () => checkForMissed({ bus, outbox, durables: [durable], metrics, log });
    await check();
    const published: Awaited<ReturnType<typeof publish>> = [];
    for (const at of works.keys()) {
      published.push(...(await publish(1)));
      // The consumer does not end its work on an event until the next event is published.
      if (keepsUp) works[at - 1]?.resolve();
      const applied = keepsUp ? (published[at - 1]?.position ?? 0) : 0;
      await waitFor(async () => (await bus.backlog(durable)).position >= applied);
      await check();
      // Two days pass.
      const heard = await outbox.fact('heard');
      const note = heard?.durables[durable];
      if (note) note.at -= 2 * dayMs;
      if (note?.next) note.next.at -= 2 * dayMs;
      if (heard) await outbox.noteFact('heard', heard);
    }
    await bus.withdraw(published.slice(0, 3));
    await check();
    for (const { resolve } of works) resolve();
    await intake.drain();
    expect(await missed()).toBe(keepsUp || engine === 'embedded' ? 0 : 1);
  });
});
