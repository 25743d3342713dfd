import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { waitFor } from '@kith/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bulkTransaction, lightTransaction, openSqlite, syncedTransaction, transaction } from './sqlite.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-sqlite-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const migrations = ['CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)'];
const marker = 'a-word-that-stands-in-nothing-else';

/** Whether a word is in a database's file or in its log. */
function isThere(name: string, word = marker): boolean {
  const files = readdirSync(folder).filter((file) => file.startsWith(name) && !file.endsWith('-shm'));
  return files.some((file) => readFileSync(join(folder, file), 'latin1').includes(word));
}

test('erased data soon disappears from the log, while the database stays open', async () => {
  using db = openSqlite({ file: join(folder, 'erased.sqlite'), migrations, tidyEveryMs: 20 });
  db.prepare('INSERT INTO notes (text) VALUES (?)').run(marker);
  expect(isThere('erased')).toBe(true);
  db.exec('DELETE FROM notes');
  await waitFor(() => !isThere('erased'));
  expect(db.prepare('SELECT count(*) AS count FROM notes').get()).toEqual({ count: 0 });
});

test('if a reader is active, erased data disappears from the log after the reader has ended', async () => {
  const file = join(folder, 'read.sqlite');
  using db = openSqlite({ file, migrations, tidyEveryMs: 20 });
  db.prepare('INSERT INTO notes (text) VALUES (?)').run(marker);
  using reader = new DatabaseSync(file);
  reader.exec('BEGIN');
  reader.prepare('SELECT * FROM notes').all();
  db.exec('DELETE FROM notes');
  let turns = 0;
  await waitFor(() => ++turns > 5);
  expect(isThere('read')).toBe(true);
  reader.exec('COMMIT');
  await waitFor(() => !isThere('read'));
});

test('a light transaction is stored completely or not at all, and the next normal transaction waits for the disk again', () => {
  using db = openSqlite({ file: join(folder, 'light.sqlite'), migrations });
  const level = () => Number(db.prepare('PRAGMA synchronous').get()?.synchronous);
  const add = (text: string) => db.prepare('INSERT INTO notes (text) VALUES (?)').run(text);
  expect(level()).toBe(2);
  lightTransaction(db, () => {
    expect(level()).toBe(1);
    add('light');
  });
  expect(() =>
    lightTransaction(db, () => {
      add('absent');
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(level()).toBe(2);
  transaction(db, () => add('synced'));
  expect(db.prepare('SELECT text FROM notes ORDER BY id').all()).toEqual([
    { text: 'light' },
    { text: 'synced' },
  ]);
});

test('a synced transaction waits for the disk in a file whose other transactions do not', () => {
  using db = openSqlite({ file: join(folder, 'synced.sqlite'), migrations, synchronous: 'normal' });
  const level = () => Number(db.prepare('PRAGMA synchronous').get()?.synchronous);
  expect(level()).toBe(1);
  syncedTransaction(db, () => expect(level()).toBe(2));
  expect(level()).toBe(1);
});

test('a thread copies the log of bulk transactions into the database file, and no row is missing', async () => {
  const file = join(folder, 'bulk.sqlite');
  // The database's owner itself does not tidy up during this test.
  using db = openSqlite({ file, migrations, tidyEveryMs: 3_600_000 });
  const text = `${marker}${'x'.repeat(1_000)}`;
  const insert = db.prepare('INSERT INTO notes (text) VALUES (?)');
  const size = () => statSync(file).size;
  const before = size();
  for (let bulk = 0; bulk < 40; bulk++) {
    bulkTransaction(db, () => {
      for (let row = 0; row < 1_000; row++) insert.run(text);
    });
  }
  expect(before).toBeLessThan(1_000_000);
  await waitFor(() => size() > 32_000_000);
  expect(db.prepare('SELECT count(*) AS count FROM notes').get()).toEqual({ count: 40_000 });
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
});
