import { openSqlite, SqliteOutbox, type StoreConfig } from '@kith/service';
import type { IdentityStore } from './index.ts';
import { SqliteAccounts } from './sqlite-accounts.ts';
import { SqliteBlocks } from './sqlite-blocks.ts';
import { SqliteErasure } from './sqlite-erasure.ts';
import { SqliteImports } from './sqlite-imports.ts';
import { sqliteKeys } from './sqlite-keys.ts';
import { SqlitePeople } from './sqlite-people.ts';
import { SqliteProjects } from './sqlite-projects.ts';
import { migrations } from './sqlite-schema.ts';
import { SqliteSessions } from './sqlite-sessions.ts';
import { SqliteUsers } from './sqlite-users.ts';

/** Opens the store on a SQLite file. */
export function openSqliteStore(config: StoreConfig & { kind: 'sqlite' }): IdentityStore {
  const { file, synchronous } = config;
  const db = openSqlite({ file, migrations, synchronous });
  const outbox = new SqliteOutbox(db);
  const ping = db.prepare('SELECT count(*) FROM keys');
  return {
    projects: new SqliteProjects(db),
    users: new SqliteUsers(db, outbox),
    people: new SqlitePeople(db),
    erasure: new SqliteErasure(db, outbox),
    blocks: new SqliteBlocks(db),
    accounts: new SqliteAccounts(db, outbox),
    sessions: new SqliteSessions(db, outbox),
    keys: sqliteKeys(db),
    imports: new SqliteImports(db),
    outbox,
    async check() {
      ping.get();
    },
    async close() {
      if (db.isOpen) db.close();
    },
  };
}
