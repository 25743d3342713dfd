import { randomUUID } from 'node:crypto';
import { Metrics } from '@kith/base';
import { type Bus, NoResponders, observedBus, RequestTimeout } from '@kith/bus';
import { availableEngines, createBus, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const body = new TextEncoder().encode('{}');
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe.each(availableEngines())('trace parents, backlog and metrics of a bus (%s)', (engine) => {
  let bus: Bus & AsyncDisposable;
  beforeAll(async () => {
    bus = await createBus(engine);
  });
  afterAll(() => bus?.[Symbol.asyncDispose]());

  const space = () => {
    const project = randomUUID();
    return { project, subject: `${bus.prefix}.event.${project}.thing.made` };
  };

  test('each attempt to apply an event gets the event’s traceparent, which is not in the event’s body', async () => {
    const { project, subject } = space();
    const seen: (string | undefined)[] = [];
    const bodies: string[] = [];
    const intake = await bus.consume(
      { durable: `traced-${project}`, subjects: [subject] },
      async (delivery) => {
        seen.push(delivery.traceparent);
        bodies.push(new TextDecoder().decode(delivery.body));
        // Fails once, so that there is a second attempt, which must receive the same `traceparent`.
        if (delivery.delivery === 1 && delivery.traceparent) throw new Error('once more');
      },
    );
    await bus.publish({ subject, id: randomUUID(), body, traceparent });
    await waitFor(() => seen.length === 2);
    await bus.publish({ subject, id: randomUUID(), body });
    await waitFor(() => seen.length === 3);
    expect(seen).toEqual([traceparent, traceparent, undefined]);
    expect(bodies).toEqual(['{}', '{}', '{}']);
    await intake.drain();
  });

  test('the backlog of a durable counts only unapplied events on the durable’s subjects, and contains the durable’s position', async () => {
    const { project, subject } = space();
    const durable = `behind-${project}`;
    const held = Promise.withResolvers<void>();
    const intake = await bus.consume({ durable, subjects: [subject] }, () => held.promise);
    expect(await bus.backlog(durable)).toMatchObject({ pending: 0, dead: 0 });
    const first = await bus.publish({ subject, id: randomUUID(), body });
    await bus.publish({ subject, id: randomUUID(), body });
    const last = await bus.publish({ subject, id: randomUUID(), body });
    await bus.publish({ subject: `${subject}-of-others`, id: randomUUID(), body });
    await waitFor(async () => (await bus.backlog(durable)).pending === 3);
    expect((await bus.backlog(durable)).position).toBeLessThan(first);
    held.resolve();
    await waitFor(async () => (await bus.backlog(durable)).pending === 0);
    expect((await bus.backlog(durable)).position).toBeGreaterThanOrEqual(last);
    await intake.drain();
  });

  test('retried events count as pending, and given-up events count as dead until they are replayed', async () => {
    const { project, subject } = space();
    const durable = `failing-${project}`;
    let isMended = false;
    const options = { durable, subjects: [subject], maxDeliveries: 2, backoffMs: [1_000] };
    // The last attempt waits until the test has seen that the event is pending.
    const isSeen = Promise.withResolvers<void>();
    const intake = await bus.consume(options, async ({ delivery }) => {
      if (delivery === 2) await isSeen.promise;
      if (!isMended) throw new Error('refused');
    });
    await bus.publish({ subject, id: randomUUID(), body });
    await waitFor(async () => (await bus.backlog(durable)).pending === 1);
    isSeen.resolve();
    await waitFor(async () => (await bus.backlog(durable)).dead === 1);
    await waitFor(async () => (await bus.backlog(durable)).pending === 0);
    isMended = true;
    expect(await bus.replayDeadLetters(durable)).toBe(1);
    await waitFor(async () => {
      const { pending, dead } = await bus.backlog(durable);
      return pending === 0 && dead === 0;
    });
    await intake.drain();
  });

  test('requests without an answer are counted per service', async () => {
    const metrics = new Metrics();
    const observed = observedBus(bus, { metrics, system: 'nats' });
    const silent = `${bus.prefix}.svc.quiet.hear`;
    const intake = await observed.serve(silent, 'quiet', async () => undefined);
    const ask = (subject: string, patienceMs: number) =>
      observed.request(subject, { headers: {}, body }, patienceMs);
    await expect(ask(silent, 50)).rejects.toThrow(RequestTimeout);
    await expect(ask(`${bus.prefix}.rpc.away.hear`, 10_000)).rejects.toThrow(NoResponders);
    const counted = (await metrics.busFailures.get()).values.map(({ labels, value }) => ({
      ...labels,
      value,
    }));
    expect(counted).toEqual([
      { service: 'quiet', reason: 'timeout', value: 1 },
      { service: 'away', reason: 'no_responders', value: 1 },
    ]);
    expect(await metrics.registry.getSingleMetricAsString('kith_bus_connected')).toMatch(/ 1$/m);
    await intake.drain();
  });
});
