import type { DatabaseSync } from 'node:sqlite';
import type { Facts, Outbox } from './outbox.ts';

/** A store's facts about itself on SQLite. They can be read and noted in the files of older versions, too. */
export class SqliteFacts implements Pick<Outbox, 'fact' | 'noteFact'> {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  async fact<K extends keyof Facts>(name: K): Promise<Facts[K] | undefined> {
    const row = this.#db.prepare('SELECT value FROM facts WHERE name = ?').get(name);
    return row && JSON.parse(row.value as string);
  }

  async noteFact<K extends keyof Facts>(name: K, value: Facts[K]): Promise<void> {
    const put = this.#db.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)');
    put.run(name, JSON.stringify(value));
  }
}
