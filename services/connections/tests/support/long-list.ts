import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/service';
import { MongoClient } from 'mongodb';
import { type Entry, entryKey, type ListName } from '../../src/listing.ts';

/** Stores a list of so many rows as the store lays them down, past it, and gives them in their order. */
export async function storeLongList(
  config: StoreConfig,
  of: { projectId: string; ownerId: string; list: ListName; count: number },
): Promise<Entry[]> {
  const { projectId, ownerId, list, count } = of;
  const entries = Array.from({ length: count }, (_, age): Entry => {
    const at = new Date(Date.UTC(2026, 0, 1) - age * 1_000);
    const others = { id: randomUUID(), userId: randomUUID(), message: null };
    const connectedAt = list === 'established' ? at : null;
    return { projectId, ownerId, list, ...others, requestedAt: at, connectedAt };
  });
  const head = `${projectId}|${ownerId}`;
  if (config.kind === 'sqlite') {
    using db = new DatabaseSync(config.file, { timeout: 5_000 });
    const insert = db.prepare('INSERT INTO edges VALUES (?, ?, ?, NULL, ?, ?)');
    db.exec('BEGIN');
    for (const entry of entries) {
      const times = [entry.requestedAt.getTime(), entry.connectedAt?.getTime() ?? null];
      insert.run(entryKey(entry), entry.id, entry.userId, ...times);
    }
    db.prepare(
      `INSERT INTO heads (id, established, sent, received) VALUES (?, 0, 0, 0) ON CONFLICT DO NOTHING`,
    ).run(head);
    db.prepare(`UPDATE heads SET ${list} = ? WHERE id = ?`).run(count, head);
    db.exec('COMMIT');
    return entries;
  }
  await using client = new MongoClient(config.url);
  const db = client.db(config.database);
  const edges = db.collection<{ _id: string }>('edges');
  for (let at = 0; at < count; at += 5_000) {
    const some = entries.slice(at, at + 5_000);
    await edges.insertMany(some.map((entry) => ({ _id: entryKey(entry), ...entry, rev: 1 })));
  }
  const heads = db.collection<{ _id: string }>('heads');
  await heads.updateOne({ _id: head }, { $set: { [list]: count } }, { upsert: true });
  return entries;
}
