import { closeSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '../errors.ts';
import { tracing } from '../telemetry/tracing.ts';
import { refuseMoved, schemaVersion } from './moved.ts';

export interface SqliteOptions {
  /** Path, or `:memory:`. */
  file: string;
  /** SQL scripts; the n-th brings schema version n-1 to n (kept in `user_version`). */
  migrations: readonly string[];
  /** `normal` survives the process's death, `full` the machine's too. */
  synchronous?: 'normal' | 'full' | undefined;
}

/** Opens a database file, readable by its owner alone, in WAL mode, and brings its schema up to date. */
export function openSqlite(options: SqliteOptions): DatabaseSync {
  const { file, migrations, synchronous = 'normal' } = options;
  try {
    // SQLite gives its -wal and -shm files the mode of the database file.
    if (file !== ':memory:') closeSync(openSync(file, 'a', 0o600));
    const db = new DatabaseSync(file, { timeout: 5_000 });
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON`);
    // What is erased is not to stay readable in pages that are free (docs/adr/0014).
    db.exec('PRAGMA secure_delete = ON');
    // Nor is it in a log that has once been long (`bulkTransaction`).
    db.exec('PRAGMA journal_size_limit = 4194304');
    migrate(db, file, migrations);
    return db;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`The database ${file} can not be opened: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

function migrate(db: DatabaseSync, file: string, migrations: readonly string[]): void {
  const version = schemaVersion(db);
  refuseMoved(file, version);
  if (version > migrations.length) {
    throw new StartError(`The database ${file} was written by a newer version of Kith (schema ${version}).`);
  }
  for (const [index, script] of migrations.entries()) {
    if (index < version) continue;
    transaction(db, () => {
      db.exec(script);
      db.exec(`PRAGMA user_version = ${index + 1}`);
    });
  }
}

/** Runs `work` in one write transaction; a throw rolls it back. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  const traces = tracing();
  if (traces?.active() === undefined) return inTransaction(db, work);
  const span = traces.start('transaction', {
    kind: 'client',
    attributes: {
      'db.system.name': 'sqlite',
      'db.namespace': basename(db.location() ?? ':memory:'),
      'db.operation.name': 'transaction',
    },
  });
  let failure: string | undefined = 'rollback';
  try {
    const result = inTransaction(db, work);
    failure = undefined;
    return result;
  } finally {
    span.end(failure);
  }
}

/**
 * A transaction of many rows, one of a row of such: the log is copied into the database less often on the way, because each
 * of them changes pages all over it.
 */
export function bulkTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('PRAGMA wal_autocheckpoint = 8000');
  try {
    return transaction(db, work);
  } finally {
    // SQLite's own. The next transaction of another kind copies what has gathered.
    db.exec('PRAGMA wal_autocheckpoint = 1000');
  }
}

function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Tells whether a write failed on a unique key. */
export function isSqliteDuplicate(error: unknown): boolean {
  // SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY.
  const code = (error as { errcode?: number }).errcode;
  return code === 2067 || code === 1555;
}
