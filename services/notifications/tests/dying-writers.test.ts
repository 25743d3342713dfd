import { randomUUID } from 'node:crypto';
import { createStore, dieBeforeEachWrite, handlerEngines, runUntilDeath } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { append, type NewNotification, type Owner } from '../src/feed.ts';
import { openStore } from '../src/store/index.ts';

// Starts no platform and at most 50 processes.

const writer = new URL('./support/dying-writer.ts', import.meta.url);

function notification(owner: Owner): NewNotification {
  const metadata = {
    connectionId: randomUUID(),
    initiatorId: randomUUID(),
    initiatorName: null,
    initiatorUsername: null,
    initiatorAvatar: null,
  };
  const times = { createdAt: 1_000, keepUntil: Date.now() + 3_600_000 };
  return { ...owner, id: randomUUID(), type: 'connection-request', metadata, ...times };
}

describe.each(handlerEngines())('a feed whose writer dies (%s)', (engine) => {
  it.each(['add', 'remove'] as const)(
    'is changed completely or not at all if the process dies at any of its writes: %s',
    { timeout: 120_000 },
    async (act) => {
      await using place = await createStore(engine);
      await using ends = new AsyncDisposableStack();
      const store = ends.adopt(await openStore(place.config), (opened) => opened.close());
      const seen = new Set<number>();
      const deaths = await dieBeforeEachWrite(async (number) => {
        const owner = { projectId: randomUUID(), userId: randomUUID() };
        const empty = await store.feed(owner);
        const { feed, entry } = append(empty, notification(owner));
        expect(await store.change(empty, { feed, put: [entry] })).toBe(true);
        const work = act === 'add' ? { add: notification(owner) } : { remove: entry.id };
        const death = await runUntilDeath(writer, { store: place.config, owner, number, ...work });
        const { total, unread, seq } = await store.feed(owner);
        const rows = await store.newest(owner, { upTo: seq, skip: 0, limit: 10 });
        expect([total, unread]).toEqual([rows.length, rows.length]);
        if (death.acknowledged) expect(total).toBe(act === 'add' ? 2 : 0);
        seen.add(total);
        return death;
      });
      expect(deaths.at(0)).toEqual({ killed: true, acknowledged: false });
      expect(deaths.at(-1)).toEqual({ killed: false, acknowledged: true });
      expect([...seen].sort()).toEqual(act === 'add' ? [1, 2] : [0, 1]);
    },
  );
});
