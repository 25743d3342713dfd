import { Collection } from 'mongodb';
import { vi } from 'vitest';

/**
 * Holds back the next write of a row whose id contains `part`. Meanwhile, the change that causes this write is committed but
 * not settled, because some rows of the change are not written yet.
 */
export function holdRow(collection: string, part = '') {
  const { replaceOne } = Collection.prototype;
  const [held, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const spy = vi.spyOn(Collection.prototype, 'replaceOne').mockImplementation(async function (
    this: Collection,
    ...write
  ) {
    const isMeant = this.collectionName === collection && String(write[0]._id).includes(part);
    if (!isMeant) return replaceOne.apply(this, write);
    spy.mockRestore();
    held.resolve();
    await gate.promise;
    return replaceOne.apply(this, write);
  });
  return { held: held.promise, release: gate.resolve };
}
