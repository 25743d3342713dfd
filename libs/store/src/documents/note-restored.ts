import { DatabaseSync } from 'node:sqlite';
import { surely } from '../drivers/mongo-settings.ts';
import type { Epoch, Outbox } from '../outbox/outbox.ts';
import { SqliteFacts } from '../outbox/sqlite-facts.ts';
import type { StoreConfig } from './store-config.ts';

interface Restored {
  whole?: true;
  unerasedSince?: number | undefined;
}

/**
 * Notes that a service's database was restored from a backup. Raises the database's epoch, so that the service's next start
 * does the work that a restore makes necessary. With `whole`, all databases were restored from one backup, so no such work is
 * necessary. In this case, `unerasedSince` is noted, or removed if it is not given. The database must have its schema already,
 * and the service has to be stopped. Returns the epoch.
 */
export async function noteRestored(config: StoreConfig, how: Restored = {}): Promise<number> {
  if (config.kind === 'sqlite') {
    using db = new DatabaseSync(config.file, { timeout: 5_000 });
    return await raiseEpoch(new SqliteFacts(db), how);
  }
  // The driver is loaded only when it is needed, because the embedded form works without it (docs/adr/0043).
  const { MongoClient } = await import('mongodb');
  const { MongoOutbox } = await import('../outbox/mongo-outbox.ts');
  await using client = new MongoClient(config.url, surely);
  return await raiseEpoch(new MongoOutbox(client.db(config.database), []), how);
}

/** Reads the epoch of a database in a file. Resolves to `undefined` if the database was never restored from a backup. */
export async function readEpoch(file: string): Promise<Epoch | undefined> {
  using db = new DatabaseSync(file, { timeout: 5_000 });
  return await new SqliteFacts(db).fact('epoch');
}

async function raiseEpoch(
  facts: Pick<Outbox, 'fact' | 'noteFact'>,
  { whole, unerasedSince }: Restored,
): Promise<number> {
  const before = await facts.fact('epoch');
  const number = (before?.number ?? 0) + 1;
  const since = whole ? unerasedSince : before?.unerasedSince;
  const isTold = whole || !before?.number || before.isTold;
  await facts.noteFact('epoch', {
    ...{ number, restoredAt: Date.now() },
    ...(!whole && { isNew: true }),
    ...(since !== undefined && { unerasedSince: since }),
    ...(isTold && { isTold }),
  });
  return number;
}
