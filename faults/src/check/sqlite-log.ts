import { DatabaseSync } from 'node:sqlite';
import type { EventEnvelope } from '@kith/contracts';
import { EventLog } from './event-log.ts';

/** Reads the events of the embedded form from their SQLite file. */
export class SqliteLog extends EventLog {
  readonly #file: string;
  #upTo = 0;

  constructor(file: string) {
    super();
    this.#file = file;
  }

  forgetPlace(): void {
    this.#upTo = 0;
  }

  async read(): Promise<void> {
    const db = new DatabaseSync(this.#file, { readOnly: true });
    try {
      const rows = db
        .prepare('SELECT position, body FROM events WHERE position > ? ORDER BY position')
        .all(this.#upTo);
      for (const { position, body } of rows) {
        this.add(JSON.parse(new TextDecoder().decode(body as Uint8Array)) as EventEnvelope);
        this.#upTo = Number(position);
      }
    } finally {
      db.close();
    }
  }
}
