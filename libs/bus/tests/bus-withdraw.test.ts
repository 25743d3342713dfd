import { randomUUID } from 'node:crypto';
import type { Bus, ConsumeOptions } from '@kith/bus';
import type { Span } from '@kith/store';
import { availableEngines, createBus, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const text = (body: Uint8Array) => new TextDecoder().decode(body);

describe.each(availableEngines())('withdraw (%s)', (engine) => {
  let bus: Bus & AsyncDisposable;
  beforeAll(async () => {
    bus = await createBus(engine);
  });
  afterAll(() => bus?.[Symbol.asyncDispose]());

  /** Events of a new project. The id of an event consists of the project and the event's content. */
  const space = () => {
    const project = randomUUID();
    const subject = (type: string) => `${bus.prefix}.event.${project}.${type}`;
    const id = (content: string) => `${project}-${content}`;
    return {
      subject,
      id,
      publish: (content: string, type = 'thing.made') =>
        bus.publish({ subject: subject(type), id: id(content), body: new TextEncoder().encode(content) }),
      withdraw: (...events: (string | [content: string, span: Span, type?: string])[]) =>
        bus.withdraw(
          events.map((event) => {
            const [content, span, type = 'thing.made'] =
              typeof event === 'string' ? [event, undefined] : event;
            return { subject: subject(type), id: id(content), span };
          }),
        ),
      options: (durable: string, more: Partial<ConsumeOptions> = {}): ConsumeOptions => ({
        durable: `${durable}-${project}`,
        subjects: [subject('>')],
        ...more,
      }),
      /** Reads the contents of all existing events with a new consumer. The last event must be `end`. */
      async all(end: string) {
        const seen: string[] = [];
        const options = { durable: `all-${randomUUID()}`, subjects: [subject('>')] };
        const intake = await bus.consume(options, async ({ body }) => {
          seen.push(text(body));
        });
        await waitFor(() => seen.includes(end));
        await intake.drain();
        return seen;
      },
    };
  };

  test('publishing returns increasing positions, and returns the same position for the same event', async () => {
    const { publish } = space();
    const first = await publish('a');
    const second = await publish('b');
    expect(second).toBeGreaterThan(first);
    expect(await publish('a')).toBe(first);
  });

  test('events that are published at the same time get their own positions, in order', async () => {
    const { publish, all } = space();
    const positions = await Promise.all(['a', 'b', 'a', 'end'].map((content) => publish(content)));
    const [first = 0, second = 0, again, last = 0] = positions;
    expect(again).toBe(first);
    expect([first, second, last]).toEqual([first, second, last].toSorted((one, other) => one - other));
    expect(new Set(positions).size).toBe(3);
    expect(await all('end')).toEqual(['a', 'b', 'end']);
  });

  test('removes exactly the named events, with a span or without one', async () => {
    const { publish, withdraw, all } = space();
    const other = space();
    const positions = new Map<string, number>();
    for (const content of ['a', 'b', 'c', 'd', 'e']) positions.set(content, await publish(content));
    const moved = await publish('moved', 'thing.moved');
    await other.publish('a');
    const span = (content: string) => {
      const position = positions.get(content) ?? 0;
      return { first: position, last: position };
    };
    await withdraw(['b', span('b')], 'd', ['moved', { first: moved, last: moved }, 'thing.moved']);
    // The span of an event that does not exist any more may now belong to another event. This other event stays.
    await withdraw(['gone', span('c')], 'nowhere', ['b', span('b')]);
    await publish('end');
    await other.publish('end');
    expect(await all('end')).toEqual(['a', 'c', 'e', 'end']);
    expect(await other.all('end')).toEqual(['a', 'end']);
  });

  test('removes every copy of an event among many other events', async () => {
    const { publish, withdraw, all } = space();
    const first = await publish('twice');
    for (let index = 0; index < 600; index++) await publish(`between-${index}`);
    // Simulates that the event is published again after the end of the broker's duplicate window.
    const last = await publish('twice~1');
    await publish('other');
    await publish('other~2');
    await withdraw(['twice', { first, last }], 'other');
    await publish('end');
    const left = await all('end');
    expect(left).toHaveLength(601);
    expect(left.filter((content) => !content.startsWith('between'))).toEqual(['end']);
  });

  test('also removes the dead letters of every consumer, and the copies that were published again by a replay', async () => {
    const { publish, withdraw, options, all } = space();
    const poisoned = [
      options('one', { maxDeliveries: 1 }),
      options('other', { maxDeliveries: 2, backoffMs: [10] }),
    ];
    let isMended = false;
    const intakes = await Promise.all(
      poisoned.map((one) =>
        bus.consume(one, async () => {
          if (!isMended) throw new Error('poison');
        }),
      ),
    );
    const position = await publish('secret');
    await publish('stays');
    const letters = async () => {
      const found = await Promise.all(poisoned.map(({ durable }) => bus.deadLetters(durable)));
      return found.map((some) => some.map(({ body }) => text(body)));
    };
    await waitFor(async () => (await letters()).flat().length === 4);
    isMended = true;
    for (let index = 0; index < 600; index++) await publish(`between-${index}`);
    expect(await bus.replayDeadLetters(poisoned[0]?.durable ?? '')).toBe(2);
    // The publisher of the event does not know the position of the replayed copy.
    await withdraw(['secret', { first: position, last: position }]);
    expect(await letters()).toEqual([[], ['stays']]);
    await publish('end');
    const left = (await all('end')).filter((content) => !content.startsWith('between'));
    expect(left).toEqual(['stays', 'stays', 'end']);
    for (const intake of intakes) await intake.drain();
  });

  test('finds the events that have dead letters, also after a replay, and removes them', async () => {
    const { publish, withdraw, options, all, id, subject } = space();
    const own = async () => (await bus.deadEvents()).filter((one) => one.startsWith(id(''))).sort();
    const poisoned = [options('one', { maxDeliveries: 1 }), options('other', { maxDeliveries: 1 })];
    const intakes = await Promise.all(
      poisoned.map((one) =>
        bus.consume(one, async ({ body }) => {
          if (text(body) !== 'end') throw new Error('poison');
        }),
      ),
    );
    for (const content of ['secret of hers', 'stays']) await publish(content);
    const letters = async () => {
      const found = await Promise.all(poisoned.map(({ durable }) => bus.deadLetters(durable)));
      return found.flat().length;
    };
    await waitFor(async () => (await letters()) === 4);
    expect(await own()).toEqual([id('secret of hers'), id('stays')]);
    const found = await bus.deadEvent(id('secret of hers'));
    expect(found).toEqual({
      ...{ id: id('secret of hers'), subject: subject('thing.made') },
      body: expect.anything(),
    });
    expect(found && text(found.body)).toBe('secret of hers');
    expect(await bus.deadEvent(id('nothing'))).toBeUndefined();

    await bus.replayDeadLetters(poisoned[0]?.durable ?? '');
    // Each of the two consumers gives up both replayed copies, which makes four dead letters. The two earlier dead letters of
    // the second consumer are still there, because only the dead letters of the first consumer were replayed.
    await waitFor(async () => (await letters()) === 6);
    expect(await own()).toEqual([id('secret of hers'), id('stays')]);
    // The span 0 to 0 contains no event, as if the first copy had expired. The position of the replayed copy is not given.
    await withdraw(['secret of hers', { first: 0, last: 0 }]);
    expect(await own()).toEqual([id('stays')]);
    expect(await bus.deadEvent(id('secret of hers'))).toBeUndefined();
    await publish('end');
    expect(await all('end')).toEqual(['stays', 'stays', 'end']);
    for (const intake of intakes) await intake.drain();
  });

  test('leaves no dead letter of an event that was withdrawn while it was handled, and the consumer continues', async () => {
    const { publish, withdraw, options } = space();
    const { promise: started, resolve: begin } = Promise.withResolvers<void>();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const handled: string[] = [];
    const consumer = options('busy', { maxDeliveries: 1 });
    const intake = await bus.consume(consumer, async ({ body }) => {
      handled.push(text(body));
      if (text(body) !== 'secret') return;
      begin();
      await gate;
      throw new Error('poison');
    });
    await publish('secret');
    await started;
    await withdraw('secret');
    open();
    await publish('next');
    await waitFor(() => handled.includes('next'));
    await intake.drain();
    expect(handled).toEqual(['secret', 'next']);
    expect(await bus.deadLetters(consumer.durable)).toEqual([]);
  });

  test('two withdrawals at the same time have the same result as one', async () => {
    const { publish, withdraw, all } = space();
    for (const content of ['a', 'b', 'c']) await publish(content);
    await Promise.all([withdraw('a', 'b'), withdraw('b', 'c'), withdraw()]);
    await publish('end');
    expect(await all('end')).toEqual(['end']);
  });
});
