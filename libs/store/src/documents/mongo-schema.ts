import type { MongoSchema } from '../drivers/mongo.ts';
import { eventsIndexes, marksIndexes } from '../outbox/mongo-outbox.ts';
import { pendingIndex } from '../settle/plan.ts';
import type { Declared } from './collection.ts';
import { oldestLayout } from './documents.ts';
import { indexesOf } from './mongo-collection.ts';
import { replyCollection } from './reply-collection.ts';

/** The collections and indexes that a service's database has on MongoDB. */
export function schemaOf({ collections, counters = [] }: Declared): MongoSchema {
  return {
    version: oldestLayout,
    oldest: oldestLayout,
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
