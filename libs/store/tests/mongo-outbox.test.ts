import { randomUUID } from 'node:crypto';
import type { EventEnvelope } from '@kith/contracts';
import { eventKey } from '@kith/store';
import { availableEngines, createStore } from '@kith/testing';
import { FindCursor } from 'mongodb';
import { describe, expect, test, vi } from 'vitest';
import { openMongo } from '../src/drivers/mongo.ts';
import {
  eventsIndexes,
  MongoOutbox,
  marksIndexes,
  type OutboxFields,
  outboxFields,
  outboxIndex,
  outboxUpdate,
} from '../src/outbox/mongo-outbox.ts';

const schema = {
  version: 1,
  collections: { things: [outboxIndex], events: eventsIndexes, marks: marksIndexes },
};
const documents = 60;
/** Number of events per document. */
const each = 8;
const projectId = randomUUID();

const event = (id: string, seq: number): EventEnvelope => ({
  id: randomUUID(),
  type: 'thing.made',
  version: 1,
  projectId,
  occurredAt: new Date().toISOString(),
  actorId: null,
  aggregate: { type: 'thing', id, seq },
  data: {},
});

describe.runIf(availableEngines().includes('containers'))('the outboxes of many documents', () => {
  test('several relays copy each event exactly once, including events that are added meanwhile', async () => {
    await using place = await createStore('containers');
    if (place.config.kind !== 'mongo') throw new Error('This is about MongoDB.');
    const { db, close } = await openMongo({ ...place.config, schema });
    try {
      const things = db.collection<OutboxFields & { _id: string }>('things');
      const ids = Array.from({ length: documents }, (_, at) => `thing-${at}`);
      const all = ids.flatMap((id) => Array.from({ length: each }, (_, at) => event(id, at + 1)));
      const [first, later] = [new Map<string, EventEnvelope>(), Map.groupBy(all, (one) => one.aggregate.id)];
      for (const [id, events] of later) first.set(id, events.shift() as EventEnvelope);
      await things.insertMany([...first].map(([_id, one]) => ({ _id, ...outboxFields([one]) })));
      const relays = [new MongoOutbox(db, ['things']), new MongoOutbox(db, ['things'])];
      const adding = Promise.all(
        [...later].map(async ([_id, events]) => {
          for (const one of events) await things.updateOne({ _id }, outboxUpdate([one]) as object);
        }),
      );
      let isAdded = false;
      void adding.then(() => {
        isAdded = true;
      });
      const filled = () => things.countDocuments({ outboxAt: { $exists: true } });
      do {
        await Promise.all(relays.map((outbox) => outbox.unpublished(documents / 3)));
      } while (!isAdded || (await filled()) > 0);
      await adding;

      const copied = await (relays[0] as MongoOutbox).unpublished(1_000);
      expect(copied.map(({ key }) => key).toSorted()).toEqual(all.map(eventKey).toSorted());
      expect(await things.countDocuments({ outbox: { $exists: true } })).toBe(0);
    } finally {
      await close();
    }
  });

  test.each([
    {
      isEnd: false,
      title: 'an event that has the key of an earlier event is published, and marked as a conflict',
    },
    {
      isEnd: true,
      title: 'an event of an aggregate that was stored again is published, and not marked as a conflict',
    },
  ])('$title', async ({ isEnd }) => {
    await using place = await createStore('containers');
    if (place.config.kind !== 'mongo') throw new Error('This is about MongoDB.');
    const { db, close } = await openMongo({ ...place.config, schema });
    try {
      const things = db.collection<OutboxFields & { _id: string }>('things');
      const outbox = new MongoOutbox(db, ['things']);
      const [phantom, real] = [event('thing', 1), event('thing', 1)];
      await things.insertOne({ _id: 'thing', ...outboxFields([phantom]) });
      await outbox.unpublished(10);
      await outbox.markPublished([eventKey(phantom)], { first: 1, last: 1, id: phantom.id });
      // Without `isEnd`, acts like a failover: the change with the event `phantom` is rolled back, and a change with the event
      // `real` is made instead. With `isEnd`, acts as if the aggregate was removed after `phantom` and stored again.
      if (isEnd) await outbox.noteEnd(eventKey(phantom));
      await things.replaceOne({ _id: 'thing' }, outboxFields([real]));
      const [found, ...others] = await outbox.unpublished(10);
      expect(others).toEqual([]);
      expect(found).toMatchObject({ event: real });
      expect(found?.conflict).toBe(isEnd ? undefined : true);
      expect(await things.countDocuments({ outbox: { $exists: true } })).toBe(0);
      // If the event `real` is copied once more, nothing changes.
      await things.replaceOne({ _id: 'thing' }, outboxFields([real]));
      expect(await outbox.unpublished(10)).toEqual([found]);
    } finally {
      await close();
    }
  });

  test('a relay that was paused does not bring back an event that was erased meanwhile', async () => {
    await using place = await createStore('containers');
    if (place.config.kind !== 'mongo') throw new Error('This is about MongoDB.');
    const { db, close } = await openMongo({ ...place.config, schema });
    try {
      const [paused, other] = [new MongoOutbox(db, ['things']), new MongoOutbox(db, ['things'])];
      const one = event('thing', 1);
      const filled = { _id: 'thing', ...outboxFields([one]) };
      await db.collection<OutboxFields & { _id: string }>('things').insertOne(filled);
      vi.useFakeTimers({ toFake: ['performance'] });
      const [read, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { toArray } = FindCursor.prototype;
      vi.spyOn(FindCursor.prototype, 'toArray').mockImplementationOnce(async function (this: FindCursor) {
        const found = await toArray.apply(this);
        read.resolve();
        await gate.promise;
        return found;
      });
      const late = paused.unpublished(10);
      await read.promise;
      expect(await other.unpublished(10)).toMatchObject([{ event: one }]);
      await other.markPublished([eventKey(one)], { first: 1, last: 1, id: one.id });
      await other.forget([eventKey(one)]);
      vi.advanceTimersByTime(5_000);
      gate.resolve();
      expect(await late).toEqual([]);
      expect(await db.collection('events').countDocuments()).toBe(0);
    } finally {
      vi.restoreAllMocks();
      vi.useRealTimers();
      await close();
    }
  });
});
