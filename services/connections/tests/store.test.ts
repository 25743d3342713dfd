import { randomUUID } from 'node:crypto';
import type { PublicUser } from '@kith/contracts';
import { createStore, handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entryKey, type ListName, placeOf } from '../src/listing.ts';
import { advance, strangers, withBlock, withoutBlock } from '../src/pair.ts';
import { type ConnectionStore, openStore } from '../src/store/index.ts';
import { unknownUser } from '../src/unknown-user.ts';
import { connectAt, eventOf, perform } from './support/pairs.ts';

describe.each(handlerEngines())('store, %s', (engine) => {
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

  const projectId = randomUUID();
  const list = (ownerId: string, name: ListName, from: { skip: number } | { after: string } = { skip: 0 }) =>
    store.list({ projectId, ownerId, list: name, from, limit: 100 });
  const totals = async (ownerId: string) => ({
    established: (await list(ownerId, 'established')).total,
    sent: (await list(ownerId, 'sent')).total,
    received: (await list(ownerId, 'received')).total,
  });

  it('returns the same empty pair for two strangers in either order', async () => {
    const [ann, bob] = [randomUUID(), randomUUID()];
    const pair = await store.pairOf(projectId, ann, bob);
    expect(pair).toEqual(await store.pairOf(projectId, bob, ann));
    expect(pair).toEqual(strangers(projectId, ann, bob));
    expect(await store.pairByConnection(projectId, randomUUID())).toBeNull();
    expect(await list(ann, 'established')).toEqual({ entries: [], total: 0 });
  });

  it('returns a pair as it was stored, by its users and by its connection id', async () => {
    const [ann, bob] = [randomUUID(), randomUUID()];
    const at = new Date('2026-01-02T03:04:05.678Z');
    const message = 'Zoë 🦊 $set {"a.b":1}';
    const pair = await perform(store, {
      projectId,
      userId: ann,
      otherId: bob,
      action: 'request',
      at,
      message,
    });
    expect(pair).toMatchObject({
      state: 'pending',
      requesterId: ann,
      receiverId: bob,
      message,
      seq: 1,
    });
    expect(await store.pairOf(projectId, bob, ann)).toEqual(pair);
    expect(await store.pairByConnection(projectId, pair.connectionId!)).toEqual(pair);
    expect(await store.pairByConnection(randomUUID(), pair.connectionId!)).toBeNull();
    expect(await store.pairOf(randomUUID(), bob, ann)).toMatchObject({ state: 'none' });
    const entry = { projectId, id: pair.connectionId, message, requestedAt: at, connectedAt: null };
    const sent = { ...entry, ownerId: ann, userId: bob, list: 'sent' };
    const received = { ...entry, ownerId: bob, userId: ann, list: 'received' };
    expect(await list(ann, 'sent')).toEqual({ entries: [sent], total: 1 });
    expect(await list(bob, 'received')).toEqual({ entries: [received], total: 1 });
  });

  it('changes rows and totals together with the pair, through all of its states', async () => {
    const [ann, bob] = [randomUUID(), randomUUID()];
    const none = { established: 0, sent: 0, received: 0 };
    const act = (userId: string, action: Parameters<typeof perform>[1]['action']) =>
      perform(store, { projectId, userId, otherId: userId === ann ? bob : ann, action });
    const first = await act(ann, 'request');
    await act(bob, 'accept');
    expect(await totals(ann)).toEqual({ ...none, established: 1 });
    expect(await totals(bob)).toEqual({ ...none, established: 1 });
    expect((await list(ann, 'established')).entries).toMatchObject([{ id: first.connectionId }]);
    await act(ann, 'disconnect');
    expect([await totals(ann), await totals(bob)]).toEqual([none, none]);
    expect(await store.pairByConnection(projectId, first.connectionId!)).toBeNull();
    await act(ann, 'request');
    await act(ann, 'withdraw');
    await act(ann, 'request');
    const declined = await act(bob, 'decline');
    expect([await totals(ann), await totals(bob)]).toEqual([none, none]);
    const declinesOf = (userId: string) => store.declined({ projectId, userId }, { after: '', limit: 10 });
    const decline = { id: declined.connectionId, message: null, requestedAt: declined.requestedAt };
    expect([await declinesOf(ann), await declinesOf(bob)]).toEqual([
      [{ ...decline, userId: bob, type: 'sent', respondedAt: declined.respondedAt }],
      [{ ...decline, userId: ann, type: 'received', respondedAt: declined.respondedAt }],
    ]);
    const anew = await act(bob, 'request');
    expect([await declinesOf(ann), await declinesOf(bob)]).toEqual([[], []]);
    expect(anew.connectionId).not.toBe(declined.connectionId);
    expect(await totals(ann)).toEqual({ ...none, received: 1 });
    expect(await totals(bob)).toEqual({ ...none, sent: 1 });
    expect(anew).toMatchObject({ seq: 8 });
    for (const userId of [ann, bob]) {
      for (const name of ['established', 'sent', 'received'] as const) {
        const { entries, total } = await list(userId, name);
        expect(entries).toHaveLength(total);
      }
    }
  });

  it('stores blocks of both users with the pair, and removes the ended connection from lists and totals', async () => {
    const [ann, bob] = [randomUUID(), randomUUID()];
    const at = new Date('2026-01-02T03:04:05.678Z');
    const none = { established: 0, sent: 0, received: 0, blocks: 0, blockedBy: 0 };
    expect(await store.totals(projectId, ann)).toEqual(none);
    let pair = await connectAt(store, { projectId, userId: ann, otherId: bob, at });
    const step = async (after: typeof pair | null, userId: string) => {
      const before = await store.pairOf(projectId, ann, bob);
      expect(await store.change(before, after!, eventOf(after!, userId, at))).toBe(true);
      pair = await store.pairOf(projectId, bob, ann);
      expect(pair).toEqual(after);
    };
    await step(withBlock(pair, { userId: ann, at }), ann);
    await step(withBlock(pair, { userId: bob, at }), bob);
    const both = { ...none, blocks: 1, blockedBy: 1 };
    expect([await store.totals(projectId, ann), await store.totals(projectId, bob)]).toEqual([both, both]);
    const [block] = pair.blocks;
    const entry = { projectId, id: block?.id, message: null, requestedAt: at, connectedAt: null };
    expect((await list(ann, 'blocks')).entries).toEqual([
      { ...entry, ownerId: ann, userId: bob, list: 'blocks' },
    ]);
    expect((await list(bob, 'blockedBy')).entries).toEqual([
      { ...entry, ownerId: bob, userId: ann, list: 'blockedBy' },
    ]);
    expect(await store.pairsWith(projectId, bob, [randomUUID(), ann])).toEqual([pair]);
    expect(await store.pairsWith(projectId, bob, [])).toEqual([]);
    await step(withoutBlock(pair, ann), ann);
    expect(await store.totals(projectId, ann)).toEqual({ ...none, blockedBy: 1 });
    expect(await store.totals(projectId, bob)).toEqual({ ...none, blocks: 1 });
    await step(withoutBlock(pair, bob), bob);
    expect([await store.totals(projectId, ann), await store.totals(projectId, bob)]).toEqual([none, none]);
  });

  it('makes only one of many changes that were based on the same read', async () => {
    const [ann, bob] = [randomUUID(), randomUUID()];
    const before = await store.pairOf(projectId, ann, bob);
    const changes = Array.from({ length: 20 }, (_, index) => {
      const by = { userId: index % 2 ? ann : bob, at: new Date(), message: null };
      const after = advance(before, { to: 'pending', begins: true }, by);
      return store.change(before, after, eventOf(after, by.userId, by.at));
    });
    expect((await Promise.all(changes)).filter(Boolean)).toHaveLength(1);
    const { requesterId, receiverId } = await store.pairOf(projectId, ann, bob);
    expect(await totals(requesterId!)).toEqual({ established: 0, sent: 1, received: 0 });
    expect(await totals(receiverId!)).toEqual({ established: 0, sent: 0, received: 1 });
  });

  it('stores an event for each change, and returns the unpublished events', async () => {
    const [ann, bob] = [randomUUID(), randomUUID()];
    const { lower, higher } = await connectAt(store, {
      projectId,
      userId: ann,
      otherId: bob,
      at: new Date(),
    });
    const mine = (await store.outbox.unpublished(1_000)).filter(
      ({ event }) => event.aggregate.id === `${lower}:${higher}`,
    );
    expect(mine.map(({ event }) => event.aggregate.seq).sort()).toEqual([1, 2]);
    await store.outbox.markPublished(mine.map(({ key }) => key));
    const left = (await store.outbox.unpublished(1_000)).map(({ key }) => key);
    for (const { key } of mine) expect(left).not.toContain(key);
  });

  it('goes on storing events of a pair whose earlier events are not published yet', async () => {
    const [ann, bob] = [randomUUID(), randomUUID()];
    for (let round = 0; round < 12; round++) {
      await perform(store, { projectId, userId: ann, otherId: bob, action: 'request' });
      await perform(store, { projectId, userId: ann, otherId: bob, action: 'withdraw' });
    }
    const { lower, higher } = strangers(projectId, ann, bob);
    const seqs = (await store.outbox.unpublished(1_000))
      .filter(({ event }) => event.aggregate.id === `${lower}:${higher}`)
      .map(({ event }) => event.aggregate.seq);
    expect(seqs.sort((one, other) => one - other)).toEqual(Array.from({ length: 24 }, (_, at) => at + 1));
  });

  describe('a list', () => {
    const ownerId = randomUUID();
    const others = Array.from({ length: 12 }, () => randomUUID());
    const base = Date.parse('2026-03-01T00:00:00.000Z');
    // Each time is that of three entries, so that the order also depends on ids.
    const timeOf = (index: number) => new Date(base + Math.floor(index / 3));
    const read = (from: { skip: number } | { after: string }, limit: number) =>
      store.list({ projectId, ownerId, list: 'established', from, limit });
    let expected: string[];

    beforeAll(async () => {
      const made: { id: string; at: number }[] = [];
      for (const [index, otherId] of others.entries()) {
        const at = timeOf(index);
        const { connectionId } = await connectAt(store, { projectId, userId: ownerId, otherId, at });
        made.push({ id: connectionId!, at: at.getTime() });
      }
      made.sort((one, other) => other.at - one.at || (one.id < other.id ? -1 : 1));
      expected = made.map(({ id }) => id);
    });

    it('has the newest entry first, and entries of the same time in the order of their ids', async () => {
      const { entries, total } = await read({ skip: 0 }, 100);
      expect(entries.map(({ id }) => id)).toEqual(expected);
      expect(total).toBe(12);
    });

    it('can be read from any row number, or after any given entry', async () => {
      const all = (await read({ skip: 0 }, 100)).entries;
      for (const at of [0, 1, 5, 11]) {
        expect((await read({ skip: at }, 3)).entries).toEqual(all.slice(at, at + 3));
        expect((await read({ after: placeOf(all[at]!) }, 3)).entries).toEqual(all.slice(at + 1, at + 4));
      }
    });

    it.each([12, 5_000, Number.MAX_SAFE_INTEGER, 9e17])('is empty from row %d on', async (skip) => {
      expect(await read({ skip }, 3)).toEqual({ entries: [], total: 12 });
    });

    it('leaves out the given rows and does not count them, no matter where the reading begins', async () => {
      const all = (await read({ skip: 0 }, 100)).entries;
      const without = [all[1]!, all[5]!].map(entryKey);
      const range = { projectId, ownerId, list: 'established', limit: 4, without } as const;
      const rest = all.filter((_, at) => at !== 1 && at !== 5);
      expect(await store.list({ ...range, from: { skip: 3 } })).toEqual({
        entries: rest.slice(3, 7),
        total: 10,
      });
      expect((await store.list({ ...range, from: { after: placeOf(all[0]!) } })).entries).toEqual(
        rest.slice(1, 5),
      );
    });

    it('is the same list after the store was opened again', async () => {
      const again = await openStore(place.config);
      const { total } = await again.list({
        projectId,
        ownerId,
        list: 'established',
        from: { skip: 0 },
        limit: 1,
      });
      await again.close();
      expect(total).toBe(12);
    });
  });

  describe('profiles', () => {
    const profile = (id: string, name: string): PublicUser => ({
      ...unknownUser(projectId, id, new Date(0)),
      name,
      metadata: { 'a.b': { $set: [1, null, 'x'] }, '': true },
    });

    it('keeps the newest profile, no matter in which order the profiles arrive', async () => {
      const id = randomUUID();
      for (const seq of [2, 1, 3, 3, 2]) await store.profiles.keep({ seq, user: profile(id, `name ${seq}`) });
      expect(await store.profiles.find(projectId, [id])).toEqual(new Map([[id, profile(id, 'name 3')]]));
    });

    it('keeps the newest of many profiles that arrive at the same time', async () => {
      const id = randomUUID();
      const seqs = [4, 1, 7, 2, 9, 3, 8, 5, 6];
      await Promise.all(seqs.map((seq) => store.profiles.keep({ seq, user: profile(id, `name ${seq}`) })));
      expect((await store.profiles.find(projectId, [id])).get(id)?.name).toBe('name 9');
    });

    it('keeps the newest profile of each user when profiles of many users arrive at the same time', async () => {
      const ids = Array.from({ length: 30 }, () => randomUUID());
      // For every third user, event 1 never arrives, and events 2 and 3 arrive in this order. For all other users, the newest
      // event arrives first.
      const told = ids.flatMap((id, at) =>
        (at % 3 ? [3, 1, 2] : [2, 3]).map((seq) => ({ seq, user: profile(id, `${seq}`) })),
      );
      await Promise.all(told.map((one) => store.profiles.keep(one)));
      const again = ids.map((id, at) => ({ seq: at % 2 ? 4 : 2, user: profile(id, at % 2 ? '4' : '2') }));
      await Promise.all(again.map((one) => store.profiles.keep(one)));
      const found = await store.profiles.find(projectId, ids);
      expect(ids.map((id) => found.get(id)?.name)).toEqual(ids.map((_, at) => (at % 2 ? '4' : '3')));
    });

    it('folds the names by which a search finds users', async () => {
      const [ann, bob] = [randomUUID(), randomUUID()];
      await store.profiles.keep({ seq: 1, user: { ...profile(ann, 'Jörg Straße'), username: 'J.Berg' } });
      await store.profiles.keep({ seq: 1, user: profile(bob, 'ΟΔΥΣΣΕΥΣ') });
      const keys = ['username', 'name'] as const;
      const found = await store.profiles.searchKeys(projectId, [ann, bob, randomUUID()], keys);
      expect([found.size, { ...found.get(ann) }, { ...found.get(bob) }]).toEqual([
        2,
        { username: 'j.berg', name: 'jorg strasse' },
        { username: '', name: 'οδυσσευσ' },
      ]);
      expect((await store.profiles.searchKeys(randomUUID(), [ann], keys)).size).toBe(0);
      expect((await store.profiles.searchKeys(projectId, [], keys)).size).toBe(0);
    });

    it('finds only profiles that exist in the project', async () => {
      const id = randomUUID();
      await store.profiles.keep({ seq: 1, user: profile(id, 'Ann') });
      expect([...(await store.profiles.find(projectId, [randomUUID(), id])).keys()]).toEqual([id]);
      expect((await store.profiles.find(randomUUID(), [id])).size).toBe(0);
      expect((await store.profiles.find(projectId, [])).size).toBe(0);
    });
  });

  it('can be checked and swept without an error', async () => {
    await expect(store.check()).resolves.toBeUndefined();
    await expect(store.sweep()).resolves.toBeUndefined();
  });
});
