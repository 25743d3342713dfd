import { DatabaseSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/store';
import { layLine } from './line.ts';

/** A store whose database fails on demand. It fails for everyone who opens the store with this configuration. */
export interface FragileStore extends AsyncDisposable {
  config: StoreConfig;
  /** Makes the whole database fail permanently: ends all connections to MongoDB, or removes the tables of the SQLite file. */
  takeDown(): void;
  /** Makes every use of a table or collection fail until `mend`. Other tables keep working. */
  fail(table: string): void;
  mend(): void;
}

/**
 * Makes a store fragile. MongoDB is reached through a proxy that can cut the connections, and a SQLite file can lose its
 * tables.
 */
export async function fragileStore(config: StoreConfig): Promise<FragileStore> {
  return config.kind === 'mongo' ? fragileMongo(config) : fragileSqlite(config);
}

function fragileSqlite(config: StoreConfig & { kind: 'sqlite' }): FragileStore {
  let away: string | undefined;
  const run = (...commands: string[]) => {
    using db = new DatabaseSync(config.file, { timeout: 5_000 });
    for (const command of commands) db.exec(command);
  };
  return {
    config,
    takeDown() {
      using db = new DatabaseSync(config.file, { readOnly: true });
      const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
      run(...tables.map(({ name }) => `DROP TABLE ${name}`));
    },
    fail(table) {
      away = table;
      run(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    },
    mend() {
      if (away) run(`ALTER TABLE ${away}_away RENAME TO ${away}`);
      away = undefined;
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function fragileMongo(config: StoreConfig & { kind: 'mongo' }): Promise<FragileStore> {
  const url = new URL(config.url);
  url.port ||= '27017';
  const line = await layLine(url);
  url.host = line.address;
  url.searchParams.set('directConnection', 'true');
  return {
    config: { ...config, url: url.href },
    takeDown: () => line.cut(),
    // A command names its collection in a BSON string, which ends with a zero byte. So collections with longer names are not
    // affected.
    fail: (table) => line.cutAt(`${table}\0`),
    mend: () => line.mend(),
    [Symbol.asyncDispose]: () => line[Symbol.asyncDispose](),
  };
}
