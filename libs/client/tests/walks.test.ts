import { availableEngines } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { createClient, isKithError } from '../src/index.ts';
import { startWorld } from './support/world.ts';

/** Does work on all items, a few at a time, and again where it is not known to be done: it has to be repeatable. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      const again = item;
      await work(item).catch((error: unknown) => {
        if (!isKithError(error, 'gateway/timeout')) throw error;
        left.push(again);
      });
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
}

describe.each(availableEngines())('a walk over thousands (%s)', (engine) => {
  it('repeats and misses nothing that was there all the time, while rows come and go', async () => {
    await using world = await startWorld(engine);
    const { session } = await world.control.person();
    const kith = createClient({ url: world.platform.url, projectId: world.projectId, session });
    const { id: collectionId } = await kith.collections.getRoot();
    const stays = Array.from({ length: 2_000 }, (_, index) => `stays-${index}`);
    const goes = Array.from({ length: 100 }, (_, index) => `goes-${index}`);
    const mixed = [...stays, ...goes].toSorted((a, b) => a.slice(-2).localeCompare(b.slice(-2)));
    await each(mixed, (entityId) => kith.collections.addEntity({ collectionId, entityId }));

    const walked: string[] = [];
    const pages: number[] = [];
    const doomed = [...goes];
    for await (const page of kith.collections.listEntities({ collectionId, limit: 70 }).pages()) {
      walked.push(...page.items.map(({ id }) => id));
      pages.push(page.items.length);
      const comes = [0, 1, 2].map((index) => `comes-${pages.length}-${index}`);
      await each(comes, (entityId) => kith.collections.addEntity({ collectionId, entityId }));
      await each(doomed.splice(0, 3), (entityId) =>
        kith.collections.removeEntity({ collectionId, entityId }),
      );
    }
    expect(walked.filter((id) => id.startsWith('stays')).toSorted()).toEqual(stays.toSorted());
    expect(new Set(walked).size).toBe(walked.length);
    expect(pages.length).toBeGreaterThan(27);

    const again: string[] = [];
    for await (const { id } of kith.collections.listEntities({ collectionId, limit: 100 })) again.push(id);
    const { total } = await kith.collections.listEntities({ collectionId, limit: 1 });
    expect(new Set(again).size).toBe(again.length);
    expect(again.length).toBe(total);
    expect(again).toEqual(expect.arrayContaining(stays));
  }, 180_000);

  it('ends where the loop is left', async () => {
    await using world = await startWorld(engine);
    const { session } = await world.control.person();
    const kith = createClient({ url: world.url, projectId: world.projectId, session });
    const { id: collectionId } = await kith.collections.getRoot();
    for (const entityId of ['a', 'b', 'c']) await kith.collections.addEntity({ collectionId, entityId });
    await world.control.seen();
    for await (const { id } of kith.collections.listEntities({ collectionId, limit: 1 })) {
      if (id === 'b') break;
    }
    expect(await world.control.seen()).toHaveLength(2);
  });
});
