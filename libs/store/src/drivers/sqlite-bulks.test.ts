import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqlite } from './sqlite.ts';
import { SqliteBulks } from './sqlite-bulks.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-bulks-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A database of notes. `note` adds a note. `stored` returns the notes that another connection sees. */
function open(name: string) {
  const file = join(folder, `${name}.sqlite`);
  const db = openSqlite({ file, migrations: ['CREATE TABLE notes (text TEXT NOT NULL)'] });
  const reader = new DatabaseSync(file);
  const insert = db.prepare('INSERT INTO notes (text) VALUES (?)');
  return {
    bulks: new SqliteBulks(db),
    note: (text: string) => void insert.run(text),
    stored: () =>
      reader
        .prepare('SELECT text FROM notes ORDER BY rowid')
        .all()
        .map(({ text }) => text),
    [Symbol.dispose]() {
      reader.close();
      db.close();
    },
  };
}

test('bulks that arrive at the same time are stored together, at most four in a transaction', async () => {
  using notes = open('together');
  const seen: unknown[][] = [];
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((text) =>
      notes.bulks.run(() => {
        notes.note(text);
        seen.push(notes.stored());
        return text;
      }),
    ),
  );
  expect(answers).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(seen).toEqual([[], [], [], [], ['a', 'b', 'c', 'd']]);
  expect(notes.stored()).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('each bulk runs in the async context of its caller', async () => {
  using notes = open('contexts');
  const context = new AsyncLocalStorage<string>();
  const bulk = (name: string) => context.run(name, () => notes.bulks.run(() => context.getStore()));
  expect(await Promise.all(['a', 'b', 'c'].map(bulk))).toEqual(['a', 'b', 'c']);
});

test('a failing bulk leaves nothing, and the bulks beside it are stored once', async () => {
  using notes = open('failing');
  const outcomes = await Promise.allSettled([
    notes.bulks.run(() => notes.note('before')),
    notes.bulks.run(() => {
      notes.note('failed');
      throw new Error('no');
    }),
    notes.bulks.run(() => notes.note('after')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(notes.stored()).toEqual(['before', 'after']);
  await notes.bulks.run(() => notes.note('later'));
  expect(notes.stored()).toEqual(['before', 'after', 'later']);
});

test('a bulk that is asked for during another bulk is stored, too', async () => {
  using notes = open('nested');
  let second: Promise<void> | undefined;
  await notes.bulks.run(() => {
    second ??= notes.bulks.run(() => notes.note('second'));
    notes.note('first');
  });
  await second;
  expect(notes.stored()).toEqual(['first', 'second']);
});

test('a database that was closed meanwhile refuses the bulk', async () => {
  const notes = open('closed');
  const late = notes.bulks.run(() => notes.note('late'));
  notes[Symbol.dispose]();
  await expect(late).rejects.toThrow('database is not open');
});
