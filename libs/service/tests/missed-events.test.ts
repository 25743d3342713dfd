import { randomUUID } from 'node:crypto';
import type { Metrics } from '@kith/base';
import { eventSubject } from '@kith/contracts';
import { startService } from '@kith/service';
import { openDocuments } from '@kith/store/open';
import { availableEngines, createRuntime, createStore, waitFor } from '@kith/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { subscription } from '../src/events/subscribe.ts';

const made = { type: 'thing.made', version: 1, data: z.object({}) } as const;
const durable = 'test-things';

describe.each(availableEngines())('events that a consumer has missed (%s)', (engine) => {
  let undo: AsyncDisposableStack;
  let runtime: Awaited<ReturnType<typeof createRuntime>>;
  let store: Awaited<ReturnType<typeof createStore>>;
  let applied: string[];
  beforeEach(async () => {
    undo = new AsyncDisposableStack();
    runtime = undo.use(await createRuntime(engine));
    store = undo.use(await createStore(engine));
    applied = [];
  });
  afterEach(() => undo.disposeAsync());

  /** Starts the service. When it stops, it notes the position of its consumer. */
  async function start() {
    const documents = await openDocuments(store.config, { collections: [] });
    const { outbox } = documents;
    return startService(
      runtime,
      {
        name: 'test',
        operations: {},
        subscriptions: [
          subscription({ durable, events: [made], apply: async ({ id }) => void applied.push(id) }),
        ],
      },
      { app: undefined, outbox, close: () => documents.close() },
    );
  }

  /** Publishes events. With `gone`, they leave the log again, as events do that have become old. */
  async function publish(count: number, { type = made.type as string, gone = false } = {}) {
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
      await runtime.bus.publish({ subject, id: content.id, body });
      if (gone) await runtime.bus.withdraw([{ subject, id: content.id }]);
    }
  }

  const missed = async (metrics: Metrics) => {
    const { values } = await metrics.eventsMissed.get();
    return values.find(({ labels }) => labels.durable === durable)?.value ?? 0;
  };

  test('a consumer is reported once if events have left the log while it was away', async () => {
    await (await start()).stop();
    await publish(3, { gone: true });
    await publish(1);
    const service = await start();
    await waitFor(async () => (await missed(runtime.metrics)) === 1);
    await waitFor(() => applied.length === 1);
    await service.stop();
    await (await start()).stop();
    expect(await missed(runtime.metrics)).toBe(1);
  });

  test('a consumer that has had its events is not reported when they leave the log', async () => {
    const service = await start();
    await publish(2);
    await waitFor(() => applied.length === 2);
    await publish(3, { type: 'other.made', gone: true });
    await service.stop();
    await publish(1);
    const next = await start();
    await waitFor(() => applied.length === 3);
    await next.stop();
    expect(await missed(runtime.metrics)).toBe(0);
  });
});
