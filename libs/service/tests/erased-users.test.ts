import { randomUUID } from 'node:crypto';
import { ErasedUsers, erasedUserCollection } from '@kith/service';
import { openDocuments } from '@kith/store/open';
import { availableEngines, createStore, type EngineKind } from '@kith/testing';
import { expect, test } from 'vitest';

const minute = 60_000;
const looks = { firstMs: 5_000, lateMs: 10 * minute };

/** The options of a call that is made at the time `now`. */
const at = (now: number) => ({ looks, isStopped: () => false, clock: () => now });

async function makeErased(engine: EngineKind, undo: AsyncDisposableStack) {
  const place = undo.use(await createStore(engine));
  const declared = { collections: [erasedUserCollection] };
  const documents = undo.adopt(await openDocuments(place.config, declared), (one) => one.close());
  return { documents, erased: new ErasedUsers(documents) };
}

test.each(availableEngines())(
  'a user is due until no more data can arrive, even if the clock of the mark is an hour behind (%s)',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const { erased, documents } = await makeErased(engine, undo);
    const user = { projectId: randomUUID(), userId: randomUUID() };
    const now = Date.now();
    await erased.mark(user, now - 60 * minute, looks.lateMs);

    /** The minutes, among the next 20, in which the user is due. */
    const due: number[] = [];
    for (let after = 0; after <= 20; after++) {
      await erased.eachDue(async () => void due.push(after), at(now + after * minute));
    }
    expect(due).toEqual([0, 10]);
    await documents.sweep();
    expect(await erased.has(user)).toBe(true);
    const restarted = new ErasedUsers(documents);
    await restarted.eachDue(() => Promise.reject(new Error('The mark is over.')), at(now + 31 * minute));
  },
);

test.each(availableEngines())(
  'a user is due less and less often, and anew if the user is marked again (%s)',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const { erased } = await makeErased(engine, undo);
    const user = { projectId: randomUUID(), userId: randomUUID() };
    const now = Date.now();
    await erased.mark(user, now, looks.lateMs);
    const due: number[] = [];
    const look = (after: number) =>
      erased.eachDue(
        async (one) => {
          expect(one).toEqual(user);
          due.push(after);
        },
        at(now + after * minute),
      );
    for (let after = 0; after <= 75; after++) await look(after);
    expect(due).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 70]);
    await erased.mark(user, now + 75 * minute, looks.lateMs);
    for (let after = 75; after <= 80; after++) await look(after);
    expect(due.slice(9)).toEqual([75, 76, 77, 79]);
  },
);

test.each(availableEngines())('a stopping process erases no further user (%s)', async (engine) => {
  await using undo = new AsyncDisposableStack();
  const { erased } = await makeErased(engine, undo);
  const now = Date.now();
  for (let count = 0; count < 2; count++) {
    await erased.mark({ projectId: randomUUID(), userId: randomUUID() }, now, looks.lateMs);
  }
  let erasures = 0;
  await erased.eachDue(async () => void erasures++, { ...at(now), isStopped: () => erasures === 1 });
  expect(erasures).toBe(1);
});

test.each(availableEngines())(
  'a failed erasure is tried again, and does not delay other users (%s)',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const { erased } = await makeErased(engine, undo);
    const now = Date.now();
    for (let count = 0; count < 2; count++) {
      const user = { projectId: randomUUID(), userId: randomUUID() };
      await erased.mark(user, now - 60 * minute, looks.lateMs);
    }
    let erasures = 0;
    const failing = async () => {
      erasures++;
      throw new Error('The database is away.');
    };
    await expect(erased.eachDue(failing, at(now))).rejects.toThrow('2 users not erased yet');
    await erased.eachDue(async () => void erasures++, at(now + minute));
    expect(erasures).toBe(4);
  },
);
