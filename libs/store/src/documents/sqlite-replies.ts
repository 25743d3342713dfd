import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { transaction } from '../drivers/sqlite.ts';
import type { AnyChange, Claim, Kept, Refusal, Replies } from './documents.ts';
import type { Reply } from './reply-collection.ts';
import type { SqliteTable } from './sqlite-table.ts';

/**
 * The answers on SQLite. Each answer is a row that is written in the transaction of its change. Requests that are not finished
 * are known only to this process, and are forgotten when it ends.
 */
export class SqliteReplies implements Replies {
  readonly #db: DatabaseSync;
  readonly #table: SqliteTable<Reply>;
  readonly #make: (change: AnyChange) => 'made' | Refusal;
  readonly #claims = new Map<string, { token: string; until: number }>();

  /** @param make Makes a change inside a transaction. */
  constructor(db: DatabaseSync, table: SqliteTable<Reply>, make: (change: AnyChange) => 'made' | Refusal) {
    this.#db = db;
    this.#table = table;
    this.#make = make;
  }

  async begin(id: string, forMs: number): Promise<Claim | Reply | 'running'> {
    const now = Date.now();
    const found = this.#table.find(id);
    const reply = found && (JSON.parse(found.doc) as Reply);
    if (reply && reply.expiresAt > now) return reply;
    const running = this.#claims.get(id);
    if (running && running.until > now) return 'running';
    const token = randomUUID();
    this.#claims.set(id, { token, until: now + forMs });
    return { id, token };
  }

  async keep(changes: readonly AnyChange[], { id, token }: Claim, reply: Reply): Promise<Kept> {
    if (this.#claims.get(id)?.token !== token) return 'lost';
    let refused: Kept = 'made';
    const all = () => {
      for (let at = changes.length - 1; at >= 0; at--) {
        const outcome = this.#make(changes[at] as AnyChange);
        if (outcome === 'made') continue;
        refused = { at, refusal: outcome };
        throw undone;
      }
      // The table may still have an expired answer with this id that is not swept yet.
      this.#table.remove(id);
      this.#table.keep(id, 1, reply, { epoch: 0, newest: 1 });
    };
    try {
      transaction(this.#db, all);
      this.#claims.delete(id);
    } catch (error) {
      if (error !== undone) throw error;
    }
    return refused;
  }

  async release({ id, token }: Claim): Promise<void> {
    if (this.#claims.get(id)?.token === token) this.#claims.delete(id);
  }

  async forget({ projectId, userId }: { projectId: string; userId: string }): Promise<void> {
    transaction(this.#db, () => {
      for (const [, id] of this.#table.idsBy('user', [`${projectId}|${userId}`])) this.#table.remove(id);
    });
  }
}

/** Thrown to roll back a transaction when a change was refused. */
const undone = new Error('A change was refused.');
