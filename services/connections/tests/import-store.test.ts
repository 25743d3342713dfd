import { randomUUID } from 'node:crypto';
import { createStore, handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { pairOfRow } from '../src/import-pair.ts';
import type { LivePair } from '../src/pair.ts';
import { type ConnectionStore, type ImportOutcome, openStore } from '../src/store/index.ts';

type Place = Awaited<ReturnType<typeof createStore>>;

const row = { state: 'accepted', message: null, requestedAt: '2024-01-01T00:00:00.000Z' } as const;
/** A connection of two new users. */
const pairOf = (projectId: string, id: string) =>
  pairOfRow(projectId, { ...row, id }, { requesterId: randomUUID(), receiverId: randomUUID() });
const names = (outcomes: ImportOutcome[]) =>
  outcomes.map((outcome) => (typeof outcome === 'string' ? outcome : 'there'));

describe.each(handlerEngines())('an import in the store on %s', (engine) => {
  let place: Place;
  let store: ConnectionStore;
  let other: ConnectionStore;
  let projectId: string;
  beforeAll(async () => {
    place = await createStore(engine);
    store = await openStore(place.config);
    other = await openStore(place.config);
  });
  beforeEach(() => {
    projectId = randomUUID();
  });
  afterAll(async () => {
    await store.close();
    await other.close();
    await place[Symbol.asyncDispose]();
  });

  const add = async (...pairs: LivePair[]) => names(await store.import(projectId, pairs));

  it('refuses a connection id that another pair has, in every order of the rows', async () => {
    const id = randomUUID();
    const [first, second, third] = [
      pairOf(projectId, id),
      pairOf(projectId, id),
      pairOf(projectId, randomUUID()),
    ];
    expect(await add(second, first)).toEqual(['stored', 'id-taken']);
    expect(await add(first, second)).toEqual(['id-taken', 'there']);
    expect(await add(second, first, third)).toEqual(['there', 'id-taken', 'stored']);
    expect((await store.pairOf(projectId, first.lower, first.higher)).state).toBe('none');
    expect(await store.totals(projectId, third.lower)).toMatchObject({ established: 1 });
  });

  it('allows the same connection id in two projects, and each project finds only its own connection', async () => {
    const id = randomUUID();
    const elsewhere = randomUUID();
    const [here, there] = [pairOf(projectId, id), pairOf(elsewhere, id)];
    expect(await add(here)).toEqual(['stored']);
    expect(names(await store.import(elsewhere, [there]))).toEqual(['stored']);
    expect(await store.pairByConnection(projectId, id)).toMatchObject({ lower: here.lower });
    expect(await store.pairByConnection(elsewhere, id)).toMatchObject({ lower: there.lower });
    expect(await store.pairByConnection(randomUUID(), id)).toBeNull();
  });

  it('imports rows one after the other, and a refused row does not affect later rows', async () => {
    const [x, y] = [randomUUID(), randomUUID()];
    const [one, two] = [pairOf(projectId, x), pairOf(projectId, x)];
    const twoAnew = { ...two, connectionId: y };
    const oneAnew = { ...one, connectionId: randomUUID() };
    const rows = [one, two, twoAnew, oneAnew, { ...one, message: 'Hi' }, pairOf(projectId, y)];
    const outcomes = await store.import(projectId, rows);
    expect(names(outcomes)).toEqual(['stored', 'id-taken', 'stored', 'pair-taken', 'there', 'id-taken']);
    expect(outcomes[4]).toEqual(one);
  });

  it('returns `deleted` for two users whose connection was deleted', async () => {
    const id = randomUUID();
    const pair = pairOf(projectId, id);
    expect(await add(pair)).toEqual(['stored']);
    const none = { state: 'none', requesterId: null, receiverId: null, connectionId: null } as const;
    const left = { ...pair, ...none, seq: pair.seq + 1, message: null, requestedAt: null, respondedAt: null };
    const stored = await store.pairOf(projectId, pair.lower, pair.higher);
    expect(await store.change(stored, left)).toBe(true);
    expect(await add(pair, { ...pair, connectionId: randomUUID() })).toEqual(['deleted', 'deleted']);
  });

  it('stores exactly one of two pairs that are imported at the same time with the same connection id', async () => {
    for (let round = 0; round < 4; round++) {
      const ids = Array.from({ length: 30 }, () => randomUUID());
      const ours = ids.map((id) => pairOf(projectId, id));
      const theirs = ids.map((id) => pairOf(projectId, id)).reverse();
      const [mine, others] = await Promise.all([
        store.import(projectId, ours),
        other.import(projectId, theirs),
      ]);
      others.reverse();
      theirs.reverse();
      for (const [at, id] of ids.entries()) {
        const told = [mine[at], others[at]];
        expect([...told].sort()).toEqual(['id-taken', 'stored']);
        const [winner, loser] = told[0] === 'stored' ? [ours[at], theirs[at]] : [theirs[at], ours[at]];
        expect(await store.pairByConnection(projectId, id)).toMatchObject({ lower: winner!.lower });
        expect((await store.pairOf(projectId, loser!.lower, loser!.higher)).state).toBe('none');
        expect(await store.totals(projectId, loser!.lower)).toMatchObject({ established: 0 });
        expect(await store.totals(projectId, winner!.higher)).toMatchObject({ established: 1 });
      }
    }
  });

  // If writers could deadlock, a database would need seconds to end each deadlock. In that case, the writes of some rounds
  // would exceed the driver's time limit.
  it('stores each row once if several imports of the same rows run at the same time', {
    timeout: 120_000,
  }, async () => {
    for (let round = 0; round < 8; round++) {
      const hub = randomUUID();
      const rows = Array.from({ length: 40 }, () =>
        pairOfRow(projectId, row, { requesterId: hub, receiverId: randomUUID() }),
      );
      const told = await Promise.all([
        store.import(projectId, rows),
        other.import(projectId, rows),
        store.import(projectId, [...rows].reverse()),
      ]);
      const stored = told.flat().filter((outcome) => outcome === 'stored');
      expect(stored).toHaveLength(rows.length);
      expect(new Set(names(told.flat()))).toEqual(new Set(['stored', 'there']));
      expect(await store.totals(projectId, hub)).toMatchObject({ established: rows.length });
      const range = { projectId, ownerId: hub, list: 'established', from: { skip: 0 }, limit: 100 } as const;
      expect((await store.list(range)).entries).toHaveLength(rows.length);
    }
  });
});
