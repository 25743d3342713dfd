import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventEnvelope } from '@kith/contracts';
import { bulkTransaction, openSqlite, SqliteOutbox, type StoreConfig, transaction } from '@kith/service';
import type { LivePair } from '../act.ts';
import { entriesChange, lists, noTotals, type Totals, totalsChange } from '../listing.ts';
import { type Pair, strangers } from '../pair.ts';
import type { ConnectionStore, ImportOutcome, ListPage, ListRange } from './index.ts';
import { SqliteEdges } from './sqlite-edges.ts';
import { SqliteErasure } from './sqlite-erasure.ts';
import { SqliteImport } from './sqlite-import.ts';
import { SqlitePairs } from './sqlite-pairs.ts';
import { SqliteProfiles } from './sqlite-profiles.ts';
import { migrations } from './sqlite-schema.ts';

/** Opens the store on SQLite: the same tables as on MongoDB, and a change one transaction over all of them. */
export async function openSqliteStore(config: StoreConfig & { kind: 'sqlite' }): Promise<ConnectionStore> {
  const { file, synchronous } = config;
  return new SqliteStore(openSqlite({ file, synchronous, migrations }));
}

class SqliteStore implements ConnectionStore {
  readonly outbox: SqliteOutbox;
  readonly profiles: SqliteProfiles;
  readonly erasure: SqliteErasure;
  readonly #db: DatabaseSync;
  readonly #pairs: SqlitePairs;
  readonly #edges: SqliteEdges;
  readonly #import: SqliteImport;
  readonly #totals: StatementSync;
  readonly #addTotals: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.outbox = new SqliteOutbox(db);
    this.profiles = new SqliteProfiles(db);
    this.erasure = new SqliteErasure(db);
    this.#pairs = new SqlitePairs(db);
    this.#edges = new SqliteEdges(db);
    this.#totals = db.prepare(`SELECT ${lists.join(', ')} FROM heads WHERE id = ?`);
    const sums = lists.map((list) => `${list} = ${list} + excluded.${list}`);
    this.#addTotals = db.prepare(
      `INSERT INTO heads (id, ${lists.join(', ')}) VALUES (?${', ?'.repeat(lists.length)})
         ON CONFLICT (id) DO UPDATE SET ${sums.join(', ')}`,
    );
    this.#import = new SqliteImport({ pairs: this.#pairs, edges: this.#edges });
  }

  async pairOf(projectId: string, one: string, other: string): Promise<Pair> {
    const none = strangers(projectId, one, other);
    return this.#pairs.find(none) ?? none;
  }

  async pairByConnection(projectId: string, connectionId: string): Promise<Pair | null> {
    return this.#pairs.findByConnection(projectId, connectionId);
  }

  async pairsWith(projectId: string, userId: string, otherIds: readonly string[]): Promise<Pair[]> {
    const found = otherIds.map((otherId) => this.#pairs.find(strangers(projectId, userId, otherId)));
    return found.filter((pair) => pair !== null);
  }

  async blocked(after: string, limit: number): Promise<Pair[]> {
    return this.#pairs.blocked(after, limit);
  }

  async declined(
    of: { projectId: string; userId: string },
    range: { after: string; limit: number },
  ): Promise<Pair[]> {
    return this.#pairs.declined(of, range);
  }

  async change(before: Pair, after: Pair, event: EventEnvelope): Promise<boolean> {
    return transaction(this.#db, () => {
      if (!this.#pairs.replace(before, after)) return false;
      const { removed, added } = entriesChange(before, after);
      for (const entry of removed) this.#edges.remove(entry);
      for (const entry of added) this.#edges.add(entry);
      for (const { ownerId, add } of totalsChange(before, after)) {
        this.#add(before.projectId, ownerId, add);
      }
      this.outbox.add(event);
      return true;
    });
  }

  async import(projectId: string, pairs: readonly LivePair[]): Promise<ImportOutcome[]> {
    return bulkTransaction(this.#db, () => {
      const { outcomes, totals } = this.#import.add(pairs);
      for (const [ownerId, add] of totals) this.#add(projectId, ownerId, add);
      return outcomes;
    });
  }

  async list(range: ListRange): Promise<ListPage> {
    const totals = this.#totalsOf(range.projectId, range.ownerId);
    const total = Math.max(totals[range.list] - (range.without?.length ?? 0), 0);
    const isPastEnd = 'skip' in range.from && range.from.skip >= total;
    return { entries: isPastEnd ? [] : this.#edges.page(range), total };
  }

  async totals(projectId: string, userId: string): Promise<Totals> {
    return this.#totalsOf(projectId, userId);
  }

  /** Of changes nothing is ever left behind: each is one transaction. */
  async sweep(): Promise<void> {
    this.erasure.forget();
  }

  async check(): Promise<void> {
    this.#db.prepare('SELECT 1').get();
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #add(projectId: string, ownerId: string, add: Partial<Totals>): void {
    this.#addTotals.run(`${projectId}|${ownerId}`, ...lists.map((list) => add[list] ?? 0));
  }

  #totalsOf(projectId: string, userId: string): Totals {
    return { ...noTotals, ...this.#totals.get(`${projectId}|${userId}`) };
  }
}
