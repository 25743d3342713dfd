// Starts no platform and at most 90 processes.
import { randomUUID } from 'node:crypto';
import { createStore, dieBeforeEachWrite, handlerEngines, runUntilDeath } from '@kith/testing';
import { describe, expect, it, vi } from 'vitest';
import { lists } from '../src/listing.ts';
import { openStore } from '../src/store/index.ts';
import { perform } from './support/pairs.ts';

const writer = new URL('./support/dying-writer.ts', import.meta.url);
const stateAfter = { request: 'pending', accept: 'accepted', disconnect: 'none' } as const;
const listedAs = {
  none: {},
  pending: { 'ann sent': 1, 'bob received': 1 },
  accepted: { 'ann established': 1, 'bob established': 1 },
  declined: {},
};

/** Tests the totals and lists of writers whose process dies. The process dies before each of its writes in turn. */
describe.each(handlerEngines())('totals and lists of writers that die, %s', (engine) => {
  it.each(['request', 'accept', 'disconnect'] as const)(
    'are complete or absent if the process dies at any of its writes: %s',
    { timeout: 120_000 },
    async (action) => {
      await using place = await createStore(engine);
      await using ends = new AsyncDisposableStack();
      const store = ends.adopt(await openStore(place.config), (opened) => opened.close());
      const projectId = randomUUID();
      const seen = new Set<string>();
      const deaths = await dieBeforeEachWrite(async (number) => {
        const [ann, bob] = [randomUUID(), randomUUID()];
        const asks = { projectId, userId: ann, otherId: bob };
        const answers = { projectId, userId: bob, otherId: ann };
        if (action !== 'request') await perform(store, { ...asks, action: 'request' });
        if (action === 'disconnect') await perform(store, { ...answers, action: 'accept' });
        const by = action === 'request' ? asks : answers;
        const death = await runUntilDeath(writer, { store: place.config, ...by, action, number });
        // A writer has one second to finish a list. After that, the list's first reader repairs it. Then the list has to
        // agree with the pair. Two attempts run at the same time and share one mocked clock. So each attempt sets the clock
        // from the real time, and no attempt sets it back.
        const now = performance.timeOrigin + performance.now() + 1_500;
        vi.useFakeTimers({ toFake: ['Date'], now });
        const found: Record<string, number> = {};
        for (const ownerId of [ann, bob]) {
          for (const list of lists) {
            const of = { projectId, ownerId, list, from: { skip: 0 }, limit: 10 };
            const { entries, total } = await store.list(of);
            expect([list, entries.length]).toEqual([list, total]);
            if (total > 0) found[`${ownerId === ann ? 'ann' : 'bob'} ${list}`] = total;
          }
        }
        const { state } = await store.pairOf(projectId, ann, bob);
        expect(found).toEqual(listedAs[state]);
        if (death.acknowledged) expect(state).toBe(stateAfter[action]);
        seen.add(state);
        return death;
      });
      expect(deaths.at(0)).toEqual({ killed: true, acknowledged: false });
      expect(deaths.at(-1)).toEqual({ killed: false, acknowledged: true });
      expect(seen.size).toBe(2);
    },
  );
});
