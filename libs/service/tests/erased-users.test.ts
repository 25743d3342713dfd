import { randomUUID } from 'node:crypto';
import { ErasedUsers, erasedUserCollection } from '@kith/service';
import { openDocuments } from '@kith/store/open';
import { availableEngines, createStore, type EngineKind } from '@kith/testing';
import { expect, test } from 'vitest';

const minute = 60_000;

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
    await erased.mark(user, now - 60 * minute, 10 * minute);

    /** Those of the next 20 minutes in which the user is due. */
    const looks: number[] = [];
    for (let at = 0; at <= 20; at++) {
      await erased.eachDue(now + at * minute, async () => void looks.push(at));
    }
    // By the clock of the mark, no data can arrive any more. So the user is due only every ten minutes.
    expect(looks).toEqual([0, 10, 20]);
    await documents.sweep();
    expect(await erased.has(user)).toBe(true);
    await erased.eachDue(now + 31 * minute, () => Promise.reject(new Error('The mark is over.')));
  },
);

test.each(availableEngines())('while data may arrive, a user is due at each call (%s)', async (engine) => {
  await using undo = new AsyncDisposableStack();
  const { erased } = await makeErased(engine, undo);
  const user = { projectId: randomUUID(), userId: randomUUID() };
  const now = Date.now();
  await erased.mark(user, now, 10 * minute);
  const looks: unknown[] = [];
  for (const at of [0, 1, 2, 9]) await erased.eachDue(now + at * minute, async (one) => void looks.push(one));
  expect(looks).toEqual([user, user, user, user]);
});

test.each(availableEngines())(
  'a failed erasure is tried again, and does not delay other users (%s)',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const { erased } = await makeErased(engine, undo);
    const now = Date.now();
    for (let count = 0; count < 2; count++) {
      const user = { projectId: randomUUID(), userId: randomUUID() };
      await erased.mark(user, now - 60 * minute, 10 * minute);
    }
    let looks = 0;
    const failing = async () => {
      looks++;
      throw new Error('The database is away.');
    };
    await expect(erased.eachDue(now, failing)).rejects.toThrow('2 users not erased yet');
    await erased.eachDue(now + minute, async () => void looks++);
    expect(looks).toBe(4);
  },
);
