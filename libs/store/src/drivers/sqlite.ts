import { closeSync, openSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError, tracing } from '@kith/base';
import { checkpointSoon } from './checkpoints.ts';
import { refuseMoved, schemaVersion } from './moved.ts';
import { olderLayout } from './older-layout.ts';

export interface SqliteOptions {
  /** Path, or `:memory:`. */
  file: string;
  /** SQL scripts. Each brings the schema from one version to the next. `user_version` holds the version. */
  migrations: readonly string[];
  /** The version that the first script leads to; the default is 1. Older versions are refused. */
  oldest?: number;
  /**
   * With `normal`, changes survive the death of the process. With `full`, the default, they also survive the death of the
   * machine.
   */
  synchronous?: Synchronous | undefined;
  /** How often the write-ahead log is copied into the database and truncated, in ms. */
  tidyEveryMs?: number;
}

/** With `full`, a transaction is on the disk when it ends. With `normal`, it may reach the disk later. */
export type Synchronous = 'normal' | 'full';

/** How long a statement waits for another process, in ms. */
const busyMs = 5_000;
/** Sizes of the page cache, in KiB: SQLite's own default, and the size for a bulk. */
const cacheKib = 2_000;
const bulkCacheKib = 64_000;
/** When the log has this many pages, a transaction copies it into the database. This is SQLite's own default. */
const usualLog = 1_000;
const synchronousOf = new WeakMap<DatabaseSync, Synchronous>();

/** Opens a database file, readable by its owner alone, in WAL mode, and brings its schema up to date. */
export function openSqlite(options: SqliteOptions): DatabaseSync {
  const { file, synchronous = 'full' } = options;
  try {
    // SQLite gives its -wal and -shm files the mode of the database file.
    if (file !== ':memory:') closeSync(openSync(file, 'a', 0o600));
    const db = new DatabaseSync(file, { timeout: busyMs });
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON`);
    // Erased data must not stay readable in free pages (docs/adr/0014).
    db.exec('PRAGMA secure_delete = ON');
    tidy(db, file, options.tidyEveryMs ?? 10_000);
    synchronousOf.set(db, synchronous);
    migrate(db, file, options);
    return db;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`The database ${file} cannot be opened: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

/**
 * Writes the log back into the database and truncates it, again and again, until the database is closed. Without this, the log
 * would keep old data, even data that was erased from the database (docs/adr/0014). And with `synchronous = normal`, there
 * would be no limit to the number of changes that are not yet on the disk.
 */
function tidy(db: DatabaseSync, file: string, everyMs: number): void {
  if (file === ':memory:') return;
  const timer = setInterval(() => {
    if (!db.isOpen) return clearInterval(timer);
    if (!statSync(`${file}-wal`, { throwIfNoEntry: false })?.size) return;
    try {
      // Does not wait for other readers, because no request would be served meanwhile.
      db.exec(`PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = ${busyMs};
        PRAGMA cache_size = -${cacheKib}; PRAGMA wal_autocheckpoint = ${usualLog}`);
    } catch {
      // Nothing is reported here. If the disk is full, for example, the next write fails as well, and its failure is reported.
    }
  }, everyMs);
  timer.unref();
}

function migrate(db: DatabaseSync, file: string, { migrations, oldest = 1 }: SqliteOptions): void {
  const version = schemaVersion(db);
  refuseMoved(file, version);
  if (version >= oldest + migrations.length) {
    throw new StartError(
      `The database ${file} was written by a newer version of Kith (schema ${version}). Start the newer version, or restore a backup of this version.`,
    );
  }
  if (version > 0 && version < oldest) throw olderLayout(file, version);
  for (const [index, script] of migrations.entries()) {
    if (oldest + index <= version) continue;
    transaction(db, () => {
      db.exec(script);
      db.exec(`PRAGMA user_version = ${oldest + index}`);
    });
  }
}

/** Runs `work` in one write transaction. If `work` throws, rolls the transaction back. */
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

/** If the log has this many pages (160 MB), a bulk copies the log itself, because the thread that copies it is late. */
const longestLog = 40_000;

/**
 * Runs one transaction of a series. Each transaction of the series writes many rows, and changes pages all over the database.
 * So a thread copies the log into the database, and pages stay in memory for the next transaction (until `tidy`).
 */
export function bulkTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec(`PRAGMA wal_autocheckpoint = ${longestLog}; PRAGMA cache_size = -${bulkCacheKib}`);
  try {
    return transaction(db, work);
  } finally {
    // Only `tidy` restores SQLite's own defaults. If they were restored here, the next small change would have to copy the
    // whole log of the bulk.
    const file = db.location();
    if (file) checkpointSoon(file);
  }
}

/**
 * A transaction that does not wait for the disk. Use it only for content that may be lost when the machine dies. It must be
 * possible to derive this content again from older content of the same file.
 */
export function lightTransaction<T>(db: DatabaseSync, work: () => T): T {
  return synchronousOf.get(db) === 'full'
    ? withSynchronous(db, ['normal', 'full'], work)
    : transaction(db, work);
}

/** A transaction that waits for the disk, in a file whose other transactions do not (`normal`). */
export function syncedTransaction<T>(db: DatabaseSync, work: () => T): T {
  return synchronousOf.get(db) === 'normal'
    ? withSynchronous(db, ['full', 'normal'], work)
    : transaction(db, work);
}

function withSynchronous<T>(db: DatabaseSync, [during, after]: [string, string], work: () => T): T {
  db.exec(`PRAGMA synchronous = ${during}`);
  try {
    return transaction(db, work);
  } finally {
    db.exec(`PRAGMA synchronous = ${after}`);
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
