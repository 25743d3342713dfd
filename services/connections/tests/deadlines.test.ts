import { randomUUID } from 'node:crypto';
import { DeadlinePassed } from '@kith/base';
import { createStore, handlerEngines } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { hiddenFrom } from '../src/blocks.ts';
import { mayAsk } from '../src/may-ask.ts';
import { searchList } from '../src/search.ts';
import { openStore } from '../src/store/index.ts';
import { storeLongLists } from './support/long-list.ts';

describe.each(handlerEngines())('long lists, %s', (engine) => {
  it('are not read any further after the deadline of the request', async () => {
    await using place = await createStore(engine);
    const [projectId, userId, receiverId] = [randomUUID(), randomUUID(), randomUUID()];
    // A list is read in chunks of 1,000 rows, so this list needs two. The deadline is checked between them.
    const long = 1_001;
    await storeLongLists(place.config, { projectId, ownerId: userId }, { established: long, blocks: long });
    await storeLongLists(place.config, { projectId, ownerId: receiverId }, { established: long });
    const store = await openStore(place.config);
    try {
      const settings = { requestsFrom: 'common', showsConnections: true } as const;
      await store.settings.change({ projectId, userId: receiverId }, () => settings);
      const reads = (deadline: number) => [
        hiddenFrom({ store }, { projectId, userId, deadline }),
        mayAsk({ store }, { projectId, requesterId: userId, receiverId, deadline }),
        searchList(
          store,
          { projectId, ownerId: userId, list: 'established', from: { skip: 0 }, limit: 1 },
          {
            search: { query: 'nobody', fields: ['name'] },
            ...{ hidden: new Set(), bring: async () => {}, deadline },
          },
        ),
      ];
      const [hidden, isAllowed, found] = await Promise.all(reads(Date.now() + 60_000));
      expect([(hidden as Set<string>).size, isAllowed, found]).toEqual([
        long,
        false,
        { entries: [], total: 0 },
      ]);
      const late = await Promise.allSettled(reads(Date.now()));
      const passed = { status: 'rejected', reason: expect.any(DeadlinePassed) };
      expect(late).toEqual([passed, passed, passed]);
    } finally {
      await store.close();
    }
  });
});
