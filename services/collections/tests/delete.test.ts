import { randomUUID } from 'node:crypto';
import type { Collection } from '@kith/contracts';
import { dieBeforeEachWrite, handlerEngines, testEffort, waitFor } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Acts, actsOf } from './support/acts.ts';
import { runDying } from './support/dying.ts';
import { countStored, type Stored, seedBelow } from './support/raw.ts';
import { type Answer, startWorld, type World } from './support/world.ts';

// Starts no platform and at most 20 processes.

describe.each(handlerEngines())('deleting a collection (%s)', (engine) => {
  let world: World;
  let user: Acts;
  let root: Collection;
  beforeAll(async () => {
    world = await startWorld(engine, { instances: 2, purgeEveryMs: 50 });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  beforeEach(async () => {
    user = actsOf(world, randomUUID());
    root = await user.root();
  });
  const ownerOf = () => ({ projectId: world.projectId, userId: root.userId });
  const expectNotFound = (answer: Answer) => {
    expect(answer.text).toBe('{"error":"No such collection.","code":"collection/not-found"}');
    expect(answer.status).toBe(404);
  };
  const expectUnreachable = async (id: string, by = user) => {
    const answers = await Promise.all([
      by.children(id),
      by.rename(id, 'x'),
      by.remove(id),
      by.entities(id),
      by.add(id, { entityId: 'x' }),
      by.take(id, 'x'),
    ]);
    for (const answer of answers) expectNotFound(answer);
    const answer = await by.create(id);
    expect(answer.text).toBe(
      '{"error":"The parent collection does not exist.","code":"collection/invalid-parent"}',
    );
    expect(answer.status).toBe(400);
  };
  /** Waits until the numbers of stored collections and entities of a user are exactly those in `left`. */
  const expectPurged = (left: Stored, { userId = root.userId, timeoutMs = 15_000 } = {}) =>
    waitFor(
      async () => {
        const { collections, entities } = await countStored(world.store, { ...ownerOf(), userId });
        return collections === left.collections && entities === left.entities;
      },
      { timeoutMs },
    );
  const nothing: Stored = { collections: 1, entities: 0 };

  test('answers 204 without a body, and removes everything below with all entities', async () => {
    const kept = await user.make(root.id, 'kept');
    const top = await user.make(root.id, 'top');
    const below = await user.make(top.id, 'below');
    const deep = await user.make(below.id, 'deep');
    for (const { id } of [kept, top, deep]) await user.add(id, { entityId: 'e' });
    const answer = await user.remove(top.id.toUpperCase());
    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
    for (const { id } of [top, below, deep]) await expectUnreachable(id);
    expect((await user.children(root.id)).json).toEqual([expect.objectContaining({ id: kept.id })]);
    expect(await user.homes('e')).toEqual([kept.id]);
    await expectPurged({ collections: 2, entities: 1 });
    expect(await user.walk(kept.id)).toEqual(['e']);
    for (const { id } of [top, below, deep]) await expectUnreachable(id);
  });

  test('gives the same answer for the root, another user’s id, another project’s id, an unknown id and a malformed id', async () => {
    const { id } = await user.make(root.id);
    const answers = await Promise.all([
      user.remove(root.id),
      actsOf(world, randomUUID()).remove(id),
      actsOf(world, root.userId, { projectId: randomUUID() }).remove(id),
      user.remove(randomUUID()),
      user.remove('no-uuid'),
    ]);
    for (const answer of answers) expectNotFound(answer);
    expect(await user.root()).toEqual(root);
    expect((await user.children(root.id)).json).toHaveLength(1);
  });

  test('by many requests at once gives one 204 and one event', async () => {
    const events = await world.events();
    const top = await user.make(root.id, 'top');
    await user.make(top.id, 'below');
    const answers = await Promise.all(Array.from({ length: 10 }, () => user.remove(top.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)]);
    await waitFor(() => events.some(({ type }) => type === 'collection.deleted'));
    // When the event of a later collection arrives, all earlier events have been published. So no further event of the deletion
    // can follow.
    const last = await user.make(root.id, 'last');
    await waitFor(() => events.some(({ aggregate }) => aggregate.id === last.id));
    const deleted = events.filter(
      ({ type, actorId }) => type === 'collection.deleted' && actorId === root.userId,
    );
    expect(new Set(deleted.map(({ id }) => id)).size).toBe(1);
    expect(deleted[0]).toMatchObject({
      aggregate: { type: 'collection', id: top.id, seq: 2 },
      data: { ...top, updatedAt: expect.any(String) },
    });
  });

  test('hides thousands of collections below it immediately, and purges them', {
    timeout: 60_000 * testEffort(),
  }, async () => {
    const width = 1_000 * testEffort();
    const top = await user.make(root.id, 'top');
    const made = await seedBelow(world.store, ownerOf(), { parentId: top.id, width, levels: 3 });
    const held = [0, 1.5 * width, 3 * width - 1].map((at) => made[at]?.id ?? '');
    for (const id of held) await user.add(id, { entityId: 'e' });
    expect((await user.homes('e')).sort()).toEqual([...held].sort());
    expect((await user.remove(top.id)).status).toBe(204);
    expect(await user.homes('e')).toEqual([]);
    for (const id of held) await expectUnreachable(id);
    expect((await user.children(root.id)).json).toEqual([]);
    await expectPurged(nothing, { timeoutMs: 30_000 * testEffort() });
  });

  test('leaves nothing that other requests add below the collection during its deletion', async () => {
    for (let round = 0; round < 5; round++) {
      const top = await user.make(root.id, 'top');
      const parent = await user.make(top.id, 'parent');
      const made: Answer[] = [];
      const racers = Array.from({ length: 12 }, async (_, racer) => {
        if (racer === round) expect((await user.remove(top.id)).status).toBe(204);
        else if (racer % 4 === 3) await user.add(parent.id, { entityId: `entity ${racer}` });
        else made.push(await user.create(parent.id));
      });
      await Promise.all(racers);
      for (const answer of made) {
        expect([201, 400]).toContain(answer.status);
        if (answer.status === 201) await expectUnreachable((answer.json as Collection).id);
      }
      expect((await user.children(root.id)).json).toEqual([]);
    }
    await expectPurged(nothing);
  });

  test('happens completely or not at all if the process dies at any of its writes', async () => {
    const { store, projectId } = world;
    const ends: string[] = [];
    const deaths = await dieBeforeEachWrite(async (dieBeforeWrite) => {
      const userId = randomUUID();
      const own = actsOf(world, userId);
      const { id: rootId } = await own.root();
      const top = await own.make(rootId, 'top');
      const below = await own.make(top.id, 'below');
      const work = { store, projectId, userId, collectionId: top.id, dieBeforeWrite };
      const death = await runDying({ ...work, act: 'delete' });
      const isThere = (await own.children(below.id)).status === 200;
      ends[dieBeforeWrite] = `${death.acknowledged} ${isThere}`;
      expect((await own.children(rootId)).json).toHaveLength(isThere ? 1 : 0);
      if (isThere) await own.remove(top.id);
      await expectUnreachable(below.id, own);
      await expectPurged(nothing, { userId });
      return death;
    });
    expect(deaths.at(-1)).toEqual({ killed: false, acknowledged: true });
    expect(ends.at(-1)).toBe('true false');
    expect(ends[1]).toBe('false true');
  });
});
