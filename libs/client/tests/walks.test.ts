import { handlerEngines, sharedPlatform, type TestPlatform } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOperatorClient } from '../src/operator.ts';
import { reach } from './support/world.ts';

const each = <T>(items: readonly T[], work: (item: T) => Promise<unknown>) => Promise.all(items.map(work));

describe.each(handlerEngines())('walks (%s)', (engine) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await sharedPlatform(engine);
  });
  afterAll(() => platform.stop());

  it('neither repeat nor miss rows that stay, while other rows are added and removed', async () => {
    const ada = await platform.createUser();
    const kith = platform.client(ada);
    const { id: collectionId } = await kith.collections.getRoot();
    const stays = Array.from({ length: 900 }, (_, index) => `stays-${index}`);
    const goes = Array.from({ length: 100 }, (_, index) => `goes-${index}`);
    const mixed = [...stays, ...goes].toSorted((a, b) => a.slice(-2).localeCompare(b.slice(-2)));
    const operator = createOperatorClient({ url: platform.url, token: platform.operatorToken });
    const begun = Date.now() - mixed.length;
    const rows = mixed.map((entityId, index) => ({
      userId: ada.id,
      entityId,
      addedAt: new Date(begun + index).toISOString(),
    }));
    // The rows are imported in small parts. So even a busy machine stores each part before the request of this part times out.
    for (let at = 0; at < rows.length; at += 100) {
      const some = rows.slice(at, at + 100);
      const { imported } = await operator.collections.importEntities({
        projectId: ada.projectId,
        rows: some,
      });
      expect(imported).toBe(some.length);
    }

    const walked: string[] = [];
    const pages: number[] = [];
    const doomed = [...goes];
    for await (const page of kith.collections.listEntities({ collectionId, limit: 100 }).pages()) {
      walked.push(...page.items.map(({ id }) => id));
      pages.push(page.items.length);
      const comes = [0, 1, 2].map((index) => `comes-${pages.length}-${index}`);
      await each(comes, (entityId) => kith.collections.addEntity({ collectionId, entityId }));
      await each(doomed.splice(0, 5), (entityId) =>
        kith.collections.removeEntity({ collectionId, entityId }),
      );
    }
    expect(walked.filter((id) => id.startsWith('stays')).toSorted()).toEqual(stays.toSorted());
    expect(new Set(walked).size).toBe(walked.length);
    // Three rows are added after each page, so several pages mean that rows were added during the walk. The walk has not seen
    // some of the removed rows, so these rows were removed in time.
    expect(pages.length).toBeGreaterThanOrEqual(9);
    expect(walked.filter((id) => id.startsWith('goes')).length).toBeLessThan(goes.length);

    const again: string[] = [];
    for await (const { id } of kith.collections.listEntities({ collectionId, limit: 100 })) again.push(id);
    const { total } = await kith.collections.listEntities({ collectionId, limit: 1 });
    expect(new Set(again).size).toBe(again.length);
    expect(again.length).toBe(total);
    expect(again).toEqual(expect.arrayContaining(stays));
  });

  it('over items load pages of 100, and over pages the pages that the caller asked for', async () => {
    await using world = await reach(platform);
    const kith = await world.clientOf('Ada');
    const { id: collectionId } = await kith.collections.getRoot();
    for (let nth = 0; nth < 21; nth++) await kith.collections.addEntity({ collectionId, entityId: `${nth}` });
    const list = kith.collections.listEntities({ collectionId });
    await world.control.seen();
    let items = 0;
    for await (const _ of list) items += 1;
    expect([items, (await world.control.seen()).length]).toEqual([21, 1]);
    const sizes: number[] = [];
    for await (const page of list.pages()) sizes.push(page.items.length);
    expect(sizes).toEqual([20, 1]);
  });

  it('stop loading pages when the loop is left', async () => {
    await using world = await reach(platform);
    const kith = await world.clientOf('Ada');
    const { id: collectionId } = await kith.collections.getRoot();
    for (const entityId of ['a', 'b', 'c']) await kith.collections.addEntity({ collectionId, entityId });
    await world.control.seen();
    for await (const { id } of kith.collections.listEntities({ collectionId, limit: 1 })) {
      if (id === 'b') break;
    }
    expect(await world.control.seen()).toHaveLength(2);
  });
});
