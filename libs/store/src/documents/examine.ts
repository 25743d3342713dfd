import { DatabaseSync } from 'node:sqlite';
import { sqliteOutboxTables } from '../outbox/sqlite-outbox.ts';
import type { Declared } from './collection.ts';
import type { Examined } from './examined.ts';
import { SqliteCounters, SqliteTable } from './sqlite-table.ts';
import type { StoreConfig } from './store-config.ts';

/** Looks into a service's database and changes nothing. Rejects when the database cannot be read. */
export async function examineDocuments(config: StoreConfig, declared: Declared): Promise<Examined> {
  if (config.kind === 'sqlite') return examineFile(config.file, declared);
  // The driver is loaded only when it is needed, because the embedded form works without it (docs/adr/0043).
  const { examineMongo } = await import('./examine-mongo.ts');
  return examineMongo(config, declared);
}

function examineFile(file: string, { collections, counters = [] }: Declared): Examined {
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const statements = [
    ...sqliteOutboxTables,
    ...collections.flatMap((one) => SqliteTable.statementsOf(one)),
    ...counters.flatMap((one) => SqliteCounters.statementsOf(one)),
  ];
  const there = new Set(
    db
      .prepare('SELECT name FROM sqlite_master')
      .all()
      .map(({ name }) => name),
  );
  const said = db.prepare('PRAGMA quick_check(1)').get()?.quick_check;
  return {
    missing: statements.flatMap(namesIn).filter((name) => !there.has(name)),
    damage: said === 'ok' ? undefined : String(said),
  };
}

/** The names of the tables and indexes that statements create. */
function namesIn(statements: string): string[] {
  const made = /CREATE (?:UNIQUE )?(?:TABLE|INDEX) (?:IF NOT EXISTS )?(?:"([^"]+)"|(\w+))/g;
  return [...statements.matchAll(made)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}
