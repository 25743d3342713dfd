import type { Db } from 'mongodb';
import { insertAbsent } from '../drivers/failed-writes.ts';
import type { MongoSchema } from '../drivers/mongo.ts';
import { eventsIndexes, marksIndexes } from '../outbox/mongo-outbox.ts';
import { pendingIndex } from '../settle/plan.ts';
import type { AnyCollection, Counters, Declared } from './collection.ts';
import { oldestLayout } from './documents.ts';
import { notesToWrite } from './layout.ts';
import { indexesOf } from './mongo-collection.ts';
import { replyCollection } from './reply-collection.ts';

/** The collections and indexes that a service's database has on MongoDB. */
export function schemaOf({ collections, counters = [] }: Declared): MongoSchema {
  return {
    version: oldestLayout,
    oldest: oldestLayout,
    admit: (db) => noteLayouts(db, [...collections, ...counters]),
    collections: {
      events: eventsIndexes,
      marks: marksIndexes,
      ...Object.fromEntries(
        collections.map((one) => [
          one.name,
          one === replyCollection ? [...indexesOf(one), pendingIndex] : indexesOf(one),
        ]),
      ),
      ...Object.fromEntries(counters.map(({ name }) => [name, [pendingIndex]])),
    },
  };
}

/** Stores the notes of `notesToWrite`. Writes nothing if the database is refused. */
async function noteLayouts(db: Db, declared: readonly (AnyCollection | Counters)[]): Promise<void> {
  const layout = db.collection<{ _id: string; made: string }>('layout');
  // Reads the notes again after each write, because a replica of another version may have started at the same time.
  for (;;) {
    const stored = new Map((await layout.find().toArray()).map(({ _id, made }) => [_id, made]));
    const notes = notesToWrite(db.databaseName, stored, declared);
    if (notes.length === 0) return;
    const added = notes.filter(({ before }) => before === undefined);
    await insertAbsent(
      layout,
      added.map(({ name, made }) => ({ _id: name, made })),
    );
    for (const { name, made, before } of notes) {
      if (before !== undefined) await layout.updateOne({ _id: name, made: before }, { $set: { made } });
    }
  }
}
