import { randomUUID } from 'node:crypto';
import { availableEngines, createStore } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pairOfRow } from '../src/import-pair.ts';
import { type ConnectionStore, openStore } from '../src/store/index.ts';

describe.each(availableEngines())('an import in the store on %s', (engine) => {
  let place: Awaited<ReturnType<typeof createStore>>;
  let store: ConnectionStore;
  beforeAll(async () => {
    place = await createStore(engine);
    store = await openStore(place.config);
  });
  afterAll(async () => {
    await store.close();
    await place[Symbol.asyncDispose]();
  });

  it('gives no connection an id that another one has, whatever comes with it', async () => {
    const projectId = randomUUID();
    const id = randomUUID();
    const row = { id, state: 'accepted', message: null, requestedAt: '2024-01-01T00:00:00.000Z' } as const;
    const pair = (own: string = id) =>
      pairOfRow(projectId, { ...row, id: own }, { requesterId: randomUUID(), receiverId: randomUUID() });
    const [first, second, third] = [pair(), pair(), pair(randomUUID())];
    expect(await store.import(projectId, [second, first])).toEqual(['stored', 'id-taken']);
    expect(await store.import(projectId, [first, second])).toEqual(['id-taken', 'there']);
    expect(await store.import(projectId, [second, first, third])).toEqual(['there', 'id-taken', 'stored']);
    expect((await store.pairOf(projectId, first.lower, first.higher)).state).toBe('none');
    expect(await store.totals(projectId, third.lower)).toMatchObject({ established: 1 });
  });
});
