import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/service';
import { MongoClient } from 'mongodb';
import { type Entry, emptyFeed, type Owner } from '../../src/feed.ts';
import { rowOf } from '../../src/store/mongo-entries.ts';
import { feedKey, placeOf } from '../../src/store/place.ts';

/** Stores a feed of so many notifications as the store lays it down, past it, and gives their ids, newest first. */
export async function storeFeed(config: StoreConfig, owner: Owner, count: number): Promise<string[]> {
  const metadata = {
    connectionId: randomUUID(),
    initiatorId: randomUUID(),
    initiatorName: 'Ann',
    initiatorUsername: null,
    initiatorAvatar: null,
  };
  const times = { createdAt: Date.now(), keepUntil: Date.now() + 3_600_000, readAt: null };
  const entries = Array.from({ length: count }, (_, at): Entry => {
    return { ...owner, id: randomUUID(), type: 'connection-accepted', metadata, ...times, seq: at + 1 };
  });
  const feed = { ...emptyFeed, seq: count, total: count, unread: count };
  if (config.kind === 'sqlite') {
    using db = new DatabaseSync(config.file, { timeout: 5_000 });
    const insert = db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, NULL, ?, ?)');
    db.exec('BEGIN');
    for (const entry of entries) {
      const { projectId, userId, id, keepUntil } = entry;
      insert.run(placeOf(owner, entry.seq), projectId, userId, id, keepUntil, JSON.stringify(entry));
    }
    db.prepare('INSERT INTO feeds VALUES (?, 1, ?)').run(feedKey(owner), JSON.stringify(feed));
    db.exec('COMMIT');
  } else {
    await using client = new MongoClient(config.url);
    const db = client.db(config.database);
    const rows = entries.map((entry) => ({ _id: placeOf(owner, entry.seq), ...rowOf(entry), rev: 1 }));
    for (let at = 0; at < count; at += 5_000) {
      await db.collection<{ _id: string }>('entries').insertMany(rows.slice(at, at + 5_000));
    }
    await db
      .collection<{ _id: string; rev: number }>('feeds')
      .insertOne({ _id: feedKey(owner), ...feed, rev: 1 });
  }
  return entries.map(({ id }) => id).toReversed();
}
