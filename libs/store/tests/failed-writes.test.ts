import { availableEngines, createStore } from '@kith/testing';
import type { Collection } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failedWrites, insertAbsent } from '../src/drivers/failed-writes.ts';
import { isMongoDuplicate, openMongo } from '../src/drivers/mongo.ts';

interface Thing {
  _id: string;
}

describe.runIf(availableEngines().includes('containers'))('writes of many at once', () => {
  const undo = new AsyncDisposableStack();
  let things: Collection<Thing>;
  beforeAll(async () => {
    const { config } = undo.use(await createStore('containers'));
    if (config.kind !== 'mongo') throw new Error('This is about MongoDB.');
    const schema = { version: 1, collections: { things: [] } };
    const { db } = undo.adopt(await openMongo({ ...config, schema }), (opened) => opened.close());
    things = db.collection<Thing>('things');
  });
  afterAll(() => undo.disposeAsync());

  const row = (name: string): Thing => ({ _id: name });
  /** The database refuses this document for another reason than a taken key. */
  const impossible = { _id: ['no', 'key'] } as unknown as Thing;

  test('reads and writes use the concern `majority`', () => {
    expect(things.readConcern?.level).toBe('majority');
    expect(things.writeConcern?.w).toBe('majority');
  });

  test('writes of many documents return the documents whose keys were taken', async () => {
    await things.insertMany(['a', 'c'].map(row));
    expect(await failedWrites(things, ['a', 'b', 'c'].map(row))).toEqual(['a', 'c']);
    expect(await insertAbsent(things, ['b', 'd'].map(row))).toEqual([row('b')]);
    expect(await things.countDocuments()).toBe(4);
  });

  test('writes fail if one is refused for another reason than a taken key, even if it is not the first', async () => {
    await things.deleteMany({});
    await things.insertOne(row('there'));
    const mixed = () => [row('there'), impossible, row('new')];
    await expect(failedWrites(things, mixed())).rejects.toThrow();
    await expect(insertAbsent(things, mixed())).rejects.toThrow();
    const error = await things.insertMany(mixed(), { ordered: false }).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 11000 });
    expect(isMongoDuplicate(error)).toBe(false);
  });
});
