import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventEnvelope } from '@kith/contracts';
import { eventKey } from '@kith/store';
import { noteRestored, openDocuments } from '@kith/store/open';
import { createStore } from '@kith/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { openSqlite, transaction } from '../src/drivers/sqlite.ts';
import { SqliteOutbox, sqliteOutboxTables } from '../src/outbox/sqlite-outbox.ts';

const day = 24 * 3600 * 1000;

afterEach(() => {
  vi.useRealTimers();
});

const event = (id: string): EventEnvelope => ({
  ...{ id: randomUUID(), type: 'thing.made', version: 1, projectId: randomUUID(), data: {} },
  ...{ occurredAt: new Date().toISOString(), actorId: null, aggregate: { type: 'thing', id, seq: 1 } },
});

test('events are removed a week after they were published, and other work runs meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 });
  using db = openSqlite({ file: ':memory:', migrations: sqliteOutboxTables });
  const outbox = new SqliteOutbox(db);
  const add = (events: readonly EventEnvelope[]) =>
    transaction(db, () => {
      for (const one of events) outbox.add(one);
    });
  const old = Array.from({ length: 4_500 }, (_, at) => event(`${at}`));
  const [waiting, last] = [event('waiting'), event('last')];
  add([...old, waiting]);
  await outbox.markPublished(old.map(eventKey), { first: 1, last: 1, id: old[0]!.id });
  vi.setSystemTime(8 * day);
  add([last]);
  await outbox.markPublished([eventKey(last)], { first: 2, last: 2, id: last.id });
  const keys = () => db.prepare('SELECT key FROM events').all();
  const expiring = outbox.expire();
  let turns = 0;
  for (; keys().length > 2; turns++) await nextTurn();
  expect(turns).toBeGreaterThan(2);
  await expiring;
  expect(keys().map(({ key }) => key)).toEqual([waiting, last].map(eventKey).toSorted());
  expect(db.prepare('SELECT position FROM marks').all()).toHaveLength(1);
  expect(await outbox.newest(0, 2)).toBeUndefined();
});

test('a sweep fails if old events cannot be removed, and the next one tries again', async () => {
  await using place = await createStore('embedded');
  if (place.config.kind !== 'sqlite') throw new Error('This is about SQLite.');
  const documents = await openDocuments(place.config, { collections: [] });
  await using _ = { [Symbol.asyncDispose]: () => documents.close() };
  const old = event('old');
  await documents.outbox.restate([old]);
  const [stored] = await documents.outbox.unpublished(1);
  await documents.outbox.markPublished([stored!.key], { first: 1, last: 1, id: old.id });
  using db = new DatabaseSync(place.config.file);
  db.exec(`UPDATE events SET at = 0;
    CREATE TRIGGER kept BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'cannot be removed'); END`);
  for (const _ of ['first', 'second']) await expect(documents.sweep()).rejects.toThrow('cannot be removed');
  db.exec('DROP TRIGGER kept');
  await documents.sweep();
  expect(db.prepare('SELECT key FROM events').all()).toEqual([]);
});

test('a file without the later additions to the tables gets them when it is opened', async () => {
  await using place = await createStore('embedded');
  if (place.config.kind !== 'sqlite') throw new Error('This is about SQLite.');
  await (await openDocuments(place.config, { collections: [] })).close();
  using db = new DatabaseSync(place.config.file);
  const [one, other] = [event('one'), event('other')];
  const outbox = new SqliteOutbox(db);
  for (const stored of [one, other]) outbox.add(stored);
  await outbox.markPublished([one, other].map(eventKey), { first: 1, last: 2, id: other.id });
  db.exec(`DROP INDEX events_published; ALTER TABLE events DROP COLUMN mark;
    DELETE FROM layout WHERE name <> 'events'`);
  // `noteRestored` has to work without the missing column and index. Only `openDocuments` adds them.
  expect(await noteRestored(place.config)).toBe(1);
  const documents = await openDocuments(place.config, { collections: [] });
  await documents.outbox.forget([eventKey(one)]);
  await documents.close();
  expect(db.prepare('SELECT keys FROM marks').all()).toEqual([{ keys: JSON.stringify([eventKey(other)]) }]);
  expect(db.prepare("SELECT 1 AS one FROM sqlite_master WHERE name = 'events_published'").get()).toEqual({
    one: 1,
  });
});
