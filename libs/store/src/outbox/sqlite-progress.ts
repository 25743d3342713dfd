import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { lightTransaction } from '../drivers/sqlite.ts';
import type { Progress, ProgressNote } from './progress.ts';

/**
 * Stores the progress of consumers in the database that the consumers write to. If the database loses changes, it loses the
 * notes about these changes too.
 */
export class SqliteProgress implements Progress {
  readonly #db: DatabaseSync;
  readonly #read: StatementSync;
  readonly #note: StatementSync;

  /** @param db A database with the table `facts` (`sqliteOutboxTables`). */
  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#read = db.prepare('SELECT value FROM facts WHERE name = ?');
    this.#note = db.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)');
  }

  read(durable: string): ProgressNote | undefined {
    const value = this.#read.get(`applied:${durable}`)?.value;
    return value === undefined ? undefined : JSON.parse(value as string);
  }

  note(durable: string, note: ProgressNote): void {
    lightTransaction(this.#db, () => this.#note.run(`applied:${durable}`, JSON.stringify(note)));
  }
}
