import type { DatabaseSync } from 'node:sqlite';
import {
  openSqlite,
  type ProfileStore,
  SqliteOutbox,
  SqliteProfiles,
  type StoreConfig,
  transaction,
} from '@kith/service';
import { type Entry, emptyFeed, type Feed, type Owner } from '../feed.ts';
import type { FeedChange, NotificationStore, StoredFeed } from './index.ts';
import { feedKey } from './place.ts';
import { SqliteEntries } from './sqlite-entries.ts';
import { SqliteErasure } from './sqlite-erasure.ts';
import { migrations } from './sqlite-schema.ts';

/** Opens the store on SQLite: the same shape as on MongoDB, and a change one transaction over all of it. */
export async function openSqliteStore(config: StoreConfig & { kind: 'sqlite' }): Promise<NotificationStore> {
  const { file, synchronous } = config;
  return new SqliteStore(openSqlite({ file, synchronous, migrations }));
}

class SqliteStore implements NotificationStore {
  readonly outbox: SqliteOutbox;
  readonly profiles: ProfileStore;
  readonly erasure: SqliteErasure;
  readonly #db: DatabaseSync;
  readonly #entries: SqliteEntries;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.outbox = new SqliteOutbox(db);
    this.profiles = new SqliteProfiles(db);
    this.erasure = new SqliteErasure(db);
    this.#entries = new SqliteEntries(db);
  }

  async feed(owner: Owner): Promise<StoredFeed> {
    const row = this.#db.prepare('SELECT rev, feed FROM feeds WHERE id = ?').get(feedKey(owner)) as
      | { rev: number; feed: string }
      | undefined;
    if (!row) return { ...emptyFeed, owner, rev: 0 };
    return { ...(JSON.parse(row.feed) as Feed), owner, rev: row.rev };
  }

  async change(before: StoredFeed, change: FeedChange): Promise<boolean> {
    const { owner, rev } = before;
    const { seq, total, unread, expiredTo, marks, streams } = change.feed;
    const feed = JSON.stringify({ seq, total, unread, expiredTo, marks, streams } satisfies Feed);
    return transaction(this.#db, () => {
      if (!this.#replace(feedKey(owner), rev, feed)) return false;
      for (const entry of change.remove ?? []) this.#entries.remove(entry);
      for (const entry of change.put ?? []) this.#entries.put(entry);
      if (change.event) this.outbox.add(change.event);
      return true;
    });
  }

  async find(owner: Owner, id: string): Promise<Entry | null> {
    return this.#entries.find(owner, 'id', id);
  }

  async requestOf(owner: Owner, connectionId: string): Promise<Entry | null> {
    return this.#entries.find(owner, 'request_of', connectionId);
  }

  async newest(owner: Owner, range: { upTo: number; skip: number; limit: number }): Promise<Entry[]> {
    return this.#entries.newest(owner, range);
  }

  async following(owner: Owner, range: { after: number; upTo: number; limit: number }): Promise<Entry[]> {
    return this.#entries.following(owner, range);
  }

  async ownersOfExpired(now: number): Promise<Owner[]> {
    return this.#entries.ownersOfExpired(now);
  }

  async expired(owner: Owner, now: number): Promise<Entry[]> {
    return this.#entries.expired(owner, now);
  }

  async withdraw(projectId: string, connectionId: string, until: number): Promise<void> {
    this.#db
      .prepare('INSERT INTO withdrawn (id, expire_at) VALUES (?, ?) ON CONFLICT DO NOTHING')
      .run(`${projectId}|${connectionId}`, until);
  }

  async isWithdrawn(projectId: string, connectionId: string): Promise<boolean> {
    const found = this.#db
      .prepare('SELECT 1 FROM withdrawn WHERE id = ?')
      .get(`${projectId}|${connectionId}`);
    return found !== undefined;
  }

  /** Nothing is left behind: a change is one transaction. */
  async sweep(): Promise<void> {
    this.#db.prepare('DELETE FROM withdrawn WHERE expire_at < ?').run(Date.now());
  }

  async check(): Promise<void> {
    this.#db.prepare('SELECT 1').get();
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #replace(id: string, rev: number, feed: string): boolean {
    const { changes } =
      rev === 0
        ? this.#db
            .prepare('INSERT INTO feeds (id, rev, feed) VALUES (?, 1, ?) ON CONFLICT DO NOTHING')
            .run(id, feed)
        : this.#db
            .prepare('UPDATE feeds SET rev = rev + 1, feed = ? WHERE id = ? AND rev = ?')
            .run(feed, id, rev);
    return changes === 1;
  }
}
