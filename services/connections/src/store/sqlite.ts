import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventEnvelope, PublicUser } from '@kith/contracts';
import { openSqlite, SqliteOutbox, type StoreConfig, transaction } from '@kith/service';
import { entriesChange, lists, noTotals, type Totals, totalsChange } from '../listing.ts';
import { type Pair, strangers } from '../pair.ts';
import type { ConnectionStore, ListPage, ListRange, Profile, SearchKeys } from './index.ts';
import { SqliteEdges } from './sqlite-edges.ts';
import { SqliteErasure } from './sqlite-erasure.ts';
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
  readonly erasure: SqliteErasure;
  readonly #db: DatabaseSync;
  readonly #pairs: SqlitePairs;
  readonly #edges: SqliteEdges;
  readonly #profiles: SqliteProfiles;
  readonly #totals: StatementSync;
  readonly #addTotals: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.outbox = new SqliteOutbox(db);
    this.erasure = new SqliteErasure(db);
    this.#pairs = new SqlitePairs(db);
    this.#edges = new SqliteEdges(db);
    this.#profiles = new SqliteProfiles(db);
    this.#totals = db.prepare(`SELECT ${lists.join(', ')} FROM heads WHERE id = ?`);
    const sums = lists.map((list) => `${list} = ${list} + excluded.${list}`);
    this.#addTotals = db.prepare(
      `INSERT INTO heads (id, ${lists.join(', ')}) VALUES (?${', ?'.repeat(lists.length)})
         ON CONFLICT (id) DO UPDATE SET ${sums.join(', ')}`,
    );
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

  async change(before: Pair, after: Pair, event: EventEnvelope): Promise<boolean> {
    return transaction(this.#db, () => {
      if (!this.#pairs.replace(before, after)) return false;
      const { removed, added } = entriesChange(before, after);
      for (const entry of removed) this.#edges.remove(entry);
      for (const entry of added) this.#edges.add(entry);
      for (const { ownerId, add } of totalsChange(before, after)) {
        const sums = lists.map((list) => add[list] ?? 0);
        this.#addTotals.run(`${before.projectId}|${ownerId}`, ...sums);
      }
      this.outbox.add(event);
      return true;
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

  async profiles(projectId: string, userIds: readonly string[]): Promise<Map<string, PublicUser>> {
    return this.#profiles.find(projectId, userIds);
  }

  async searchKeys(projectId: string, userIds: readonly string[]): Promise<Map<string, SearchKeys>> {
    return this.#profiles.searchKeys(projectId, userIds);
  }

  async keepProfile(profile: Profile): Promise<void> {
    this.#profiles.keep(profile);
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

  #totalsOf(projectId: string, userId: string): Totals {
    return { ...noTotals, ...this.#totals.get(`${projectId}|${userId}`) };
  }
}
