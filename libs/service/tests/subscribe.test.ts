import { randomUUID } from 'node:crypto';
import { Metrics } from '@kith/base';
import type { Bus } from '@kith/bus';
import { eventSubject } from '@kith/contracts';
import { availableEngines, createBus, waitFor } from '@kith/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { subscribe, subscription } from '../src/events/subscribe.ts';

const made = { type: 'thing.made', version: 1, data: z.object({ name: z.string() }) } as const;

describe.each(availableEngines())('a subscription (%s)', (engine) => {
  let bus: Bus & AsyncDisposable;
  beforeEach(async () => {
    bus = await createBus(engine);
  });
  afterEach(() => bus[Symbol.asyncDispose]());

  const tell = async (name: string) => {
    const content = {
      id: randomUUID(),
      type: made.type,
      version: made.version,
      projectId: randomUUID(),
      occurredAt: new Date().toISOString(),
      actorId: null,
      aggregate: { type: 'thing', id: randomUUID(), seq: 1 },
      data: { name },
    };
    const body = new TextEncoder().encode(JSON.stringify(content));
    await bus.publish({ subject: eventSubject(bus.prefix, content), id: content.id, body });
  };
  const follow = (apply: (name: string) => Promise<void>) =>
    subscribe(
      subscription({ durable: 'test-things', events: [made], apply: ({ data }) => apply(data.name) }),
      { bus, metrics: new Metrics(), app: undefined },
    );

  test('a subscription applies each event exactly once, and finishes the events under way before it ends', async () => {
    const applied: string[] = [];
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const intake = await follow(async (name) => {
      if (name === 'last') {
        begun.resolve();
        await gate.promise;
      }
      applied.push(name);
    });
    const names = Array.from({ length: 20 }, (_, at) => `name-${at}`);
    for (const name of names) await tell(name);
    await waitFor(() => applied.length >= names.length);
    await tell('last');
    await begun.promise;
    const ended = intake.drain().then(() => [...applied]);
    gate.resolve();
    expect((await ended).toSorted()).toEqual([...names, 'last'].toSorted());
  });

  test('an event that could not be applied is delivered again', async () => {
    const seen: string[] = [];
    const intake = await follow(async (name) => {
      seen.push(name);
      await Promise.resolve();
      if (seen.length === 1) throw new Error('not now');
    });
    await tell('hard');
    await waitFor(() => seen.length === 2);
    expect(seen).toEqual(['hard', 'hard']);
    await intake.drain();
  });

  // This is not tested in the embedded form. There, databases answer immediately, so events are applied one by one.
  test.runIf(engine === 'containers')('applies other events while one event takes long', async () => {
    const applied: string[] = [];
    const gate = Promise.withResolvers<void>();
    const intake = await follow(async (name) => {
      if (name === 'slow') await gate.promise;
      applied.push(name);
    });
    await tell('slow');
    await tell('quick');
    await waitFor(() => applied.includes('quick'));
    expect(applied).toEqual(['quick']);
    gate.resolve();
    await waitFor(() => applied.length === 2);
    await intake.drain();
  });
});
