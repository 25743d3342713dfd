// Starts no platform and no process.
import { randomUUID } from 'node:crypto';
import type { EventEnvelope } from '@kith/contracts';
import { searchLate } from '@kith/service';
import { eventKey } from '@kith/store';
import { openSqlite } from '@kith/store/sqlite';
import { SqliteOutbox, sqliteOutboxTables } from '@kith/store/testing';
import { afterEach, expect, test, vi } from 'vitest';

const hour = 3600 * 1000;

afterEach(() => {
  vi.useRealTimers();
});

test('a repeated search goes only through events that the last successful search could not see', async () => {
  const start = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: start });
  const outbox = new SqliteOutbox(openSqlite({ file: ':memory:', migrations: sqliteOutboxTables }));
  const projectId = randomUUID();
  const publish = async (id: string) => {
    const event: EventEnvelope = {
      ...{ id: randomUUID(), type: 'thing.made', version: 1, projectId, data: {} },
      ...{ occurredAt: new Date().toISOString(), actorId: null, aggregate: { type: 'thing', id, seq: 1 } },
    };
    outbox.add(event);
    await outbox.markPublished([eventKey(event)]);
  };
  const range = { from: `${projectId}|thing|`, to: `${projectId}|thing}` };
  const found = async (of = range) => {
    const ids: string[] = [];
    await searchLate(outbox, of, async (search) => {
      for (const { event } of await outbox.published(search, 10)) ids.push(event.aggregate.id);
    });
    return ids;
  };
  await publish('first');
  vi.setSystemTime(start + 2 * hour);
  await expect(searchLate(outbox, range, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await found()).toEqual(['first']);
  await publish('second');
  expect(await found()).toEqual(['second']);
  // Another process's clock may differ by an hour, so the event is found once more.
  expect(await found()).toEqual(['second']);
  vi.setSystemTime(start + 4 * hour);
  expect(await found()).toEqual(['second']);
  expect(await found()).toEqual([]);
  expect(await found({ ...range, to: `${projectId}|thing|g` })).toEqual(['first']);
  // After a long time, the search is no longer remembered and begins anew.
  vi.setSystemTime(start + 12 * hour);
  await found({ ...range, to: `${projectId}|thing|h` });
  expect(await found()).toEqual(['first', 'second']);
});
