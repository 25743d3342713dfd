// Starts no platform and no process.
import { randomUUID } from 'node:crypto';
import { type EventEnvelope, eventSubject } from '@kith/contracts';
import { eraseEvents } from '@kith/service';
import { openSqlite } from '@kith/store/sqlite';
import { SqliteOutbox, sqliteOutboxTables } from '@kith/store/testing';
import { availableEngines, createBus, waitFor } from '@kith/testing';
import { expect, test } from 'vitest';

test.each(availableEngines())(
  'dead letters of a range are removed even if the outbox has no record of their events (%s)',
  async (engine) => {
    await using bus = await createBus(engine);
    const outbox = new SqliteOutbox(openSqlite({ file: ':memory:', migrations: sqliteOutboxTables }));
    const projectId = randomUUID();
    let seq = 0;
    const eventOf = (name: string, id = 'hers', data: object = { name }): EventEnvelope => ({
      ...{ id: randomUUID(), type: `thing.${name}`, version: 1, projectId },
      ...{ occurredAt: new Date().toISOString(), actorId: null },
      ...{ aggregate: { type: 'thing', id, seq: ++seq }, data },
    });
    const publish = (event: EventEnvelope) =>
      bus.publish({
        subject: eventSubject(bus.prefix, event),
        id: event.id,
        body: new TextEncoder().encode(JSON.stringify(event)),
      });
    const subjects = [`${bus.prefix}.event.>`];
    const consumer = { durable: 'test-poisoned', subjects, maxDeliveries: 1 };
    const intake = await bus.consume(consumer, async () => {
      throw new Error('poison');
    });
    /** The names of the events in the dead letters, or their texts if they are not events. */
    const names = async () => {
      const letters = await bus.deadLetters(consumer.durable);
      return letters
        .map(({ body }) => new TextDecoder().decode(body))
        .map((text) => (text.startsWith('{') ? (JSON.parse(text) as EventEnvelope).type.slice(6) : text))
        .sort();
    };
    const of = (id: string) => ({ from: `${projectId}|thing|${id}|`, to: `${projectId}|thing|${id}}` });

    const last = eventOf('last');
    const hers = ['early', 'late', 'needed', 'spared'].map((name) => eventOf(name));
    const other = ['told', 'untold'].map((name) => eventOf(name, 'other', { [name]: 'hers' }));
    // An event that the database had under the same key before it was restored from a backup.
    const twin: EventEnvelope = { ...eventOf('twin'), aggregate: last.aggregate };
    for (const event of [...hers, ...other, last, twin, eventOf('next', 'hersX')]) await publish(event);
    const subject = eventSubject(bus.prefix, last);
    await bus.publish({ subject, id: 'no event', body: new TextEncoder().encode('no event') });
    await waitFor(async () => (await names()).length === 10);
    outbox.add(last);
    const [{ key } = { key: '' }] = await outbox.unpublished(1);
    await outbox.markPublished([key]);

    const parts = { bus, outbox };
    await eraseEvents(parts, of('hers'), {
      keep: key,
      only: ({ type }) => type !== 'thing.spared',
      withdraw: ({ type }) => type !== 'thing.needed',
    });
    const left = ['last', 'needed', 'next', 'no event', 'spared'];
    expect(await names()).toEqual([...left, 'told', 'untold'].sort());
    await eraseEvents(parts, { ...of('other'), telling: '"told":"hers"' });
    expect(await names()).toEqual([...left, 'untold'].sort());

    // The dead letter is replayed and fails again. After that, nobody knows the position of the replayed copy.
    const intruder = eventOf('intruder', 'other');
    await publish(intruder);
    await waitFor(async () => (await names()).includes('intruder'));
    await bus.replayDeadLetters(consumer.durable);
    await waitFor(async () => (await names()).length === left.length + 2);
    await eraseEvents(parts, of('other'));
    expect(await names()).toEqual(left);
    await intake.drain();
    const seen: string[] = [];
    await bus.consume({ durable: 'test-all', subjects }, async ({ body }) => {
      seen.push(new TextDecoder().decode(body));
    });
    const end = eventOf('end', 'another');
    await publish(end);
    await waitFor(() => seen.some((text) => text.includes(end.id)));
    expect(seen.filter((text) => text.includes(intruder.id))).toEqual([]);
  },
);
