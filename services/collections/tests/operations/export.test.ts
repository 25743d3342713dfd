import { randomUUID } from 'node:crypto';
import { type Collection, exportCollections, exportEntities, type OutputOf } from '@kith/contracts';
import { ask } from '@kith/service';
import { handlerEngines, readSection } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/index.ts';
import { actsOf } from '../support/acts.ts';
import { erase } from '../support/store-acts.ts';
import { startWorld, type World } from '../support/world.ts';

describe.each(handlerEngines())('the export of a user’s collections (%s)', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const of = (userId: string, limit: number) => ({ projectId: world.projectId, userId, limit });
  const collectionsOf = (userId: string, limit = 2) =>
    readSection(world.runtime.bus, exportCollections, of(userId, limit));
  const entitiesOf = (userId: string, limit = 2) =>
    readSection(world.runtime.bus, exportEntities, of(userId, limit));
  const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);

  test('a user without collections exports nothing, not even a root', async () => {
    const userId = randomUUID();
    expect([await collectionsOf(userId), await entitiesOf(userId)]).toEqual([[[]], [[]]]);
  });

  test('the whole tree is exported page by page, without other users’ collections', async () => {
    const userId = randomUUID();
    const user = actsOf(world, userId);
    const other = actsOf(world, randomUUID());
    await other.make((await other.root()).id);
    const elsewhere = actsOf(world, userId, { projectId: randomUUID() });
    await elsewhere.make((await elsewhere.root()).id);

    const root = await user.root();
    const tree: Collection[] = [root];
    for (let depth = 0; depth < 3; depth++) {
      const { id: parentId } = tree.at(-1)!;
      tree.push(await user.make(parentId, `a${depth}`), await user.make(parentId, `b${depth}`));
    }
    const pages = await collectionsOf(userId);
    expect(pages.slice(0, -1).every((page) => page.length === 2)).toBe(true);
    expect(pages.flat().sort(byId)).toEqual(tree.sort(byId));
  });

  test('entities are exported with the id of their collection, even if a page ends within a collection', async () => {
    const userId = randomUUID();
    const user = actsOf(world, userId);
    const root = await user.root();
    const sizes = [5, 0, 1, 4];
    const expected: unknown[] = [];
    for (const size of sizes) {
      const { id } = await user.make(root.id);
      for (let index = 0; index < size; index++) {
        const metadata = index % 2 ? { 'a.b': [index], $set: 'ü' } : null;
        await user.add(id, { entityId: `entity ${index}`, metadata });
        expected.push({ id: `entity ${index}`, metadata, addedAt: expect.any(String), collectionId: id });
      }
    }
    await user.add(root.id, { entityId: 'entity 0' });
    expected.push({ id: 'entity 0', metadata: null, addedAt: expect.any(String), collectionId: root.id });

    for (const limit of [1, 2, 3, 5, 10, 11, 12]) {
      const pages = await entitiesOf(userId, limit);
      const found = pages.flat();
      expect(found).toHaveLength(expected.length);
      expect(found).toEqual(expect.arrayContaining(expected));
      expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(limit);
    }
  });

  test('an entity is exported even if one page cannot read all empty collections before it', async () => {
    const userId = randomUUID();
    const user = actsOf(world, userId);
    const root = await user.root();
    const made: string[] = [];
    for (let count = 0; count < 60; count++) made.push((await user.make(root.id)).id);
    // Many empty collections come before `last`, no matter how the collections are sorted.
    const last = (await collectionsOf(userId, 200)).flat().at(-2)!;
    await user.add(last.id, { entityId: 'far' });
    expect((await entitiesOf(userId, 10)).flat()).toMatchObject([{ id: 'far', collectionId: last.id }]);
    expect(made).toContain(last.id);
  });

  test('an export goes on with the next collection if a collection is deleted during the export', async () => {
    const userId = randomUUID();
    const user = actsOf(world, userId);
    const root = await user.root();
    const inOrder = (one: Collection, other: Collection) =>
      `${one.createdAt} ${one.id}` < `${other.createdAt} ${other.id}` ? -1 : 1;
    const made = [await user.make(root.id), await user.make(root.id)].sort(inOrder);
    const [first, second] = made as [Collection, Collection];
    for (const entityId of ['a', 'b', 'c']) await user.add(first.id, { entityId });
    await user.add(second.id, { entityId: 'd' });
    const found: { id: string }[] = [];
    let after: string | null = null;
    do {
      if (found.length === 2) await user.remove(first.id);
      const context = { requestId: 'test-request', deadline: Date.now() + 20_000 };
      const asked = { ...of(userId, 1), after };
      const page: OutputOf<typeof exportEntities> = await ask(
        world.runtime.bus,
        exportEntities,
        asked,
        context,
      );
      found.push(...page.items);
      after = page.next;
    } while (after !== null);
    expect(found.map(({ id }) => id)).toEqual(['a', 'b', 'd']);
  });

  test('deleted collections and everything below them are left out, even before they are purged', async () => {
    await using quiet = await startWorld(engine);
    const userId = randomUUID();
    const owner = { projectId: quiet.projectId, userId };
    const user = actsOf(quiet, userId);
    const root = await user.root();
    const gone = await user.make(root.id);
    const below = await user.make(gone.id);
    const kept = await user.make(root.id);
    for (const { id } of [gone, below, kept]) await user.add(id, { entityId: `in ${id}` });
    const store = await openStore(quiet.store);
    await erase(store, owner, gone.id);
    await store.close();
    const range = { ...owner, limit: 2 };
    const collections = (await readSection(quiet.runtime.bus, exportCollections, range)).flat();
    expect(collections.map(({ id }) => id).sort()).toEqual([root.id, kept.id].sort());
    const entities = (await readSection(quiet.runtime.bus, exportEntities, range)).flat();
    expect(entities.map(({ id }) => id)).toEqual([`in ${kept.id}`]);
  });
});
