import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import type { Bus } from '../bus/bus.ts';
import type { StoreConfig } from '../config/common.ts';
import { MongoOutbox } from './mongo-outbox.ts';
import type { Outbox } from './outbox.ts';
import { SqliteOutbox } from './sqlite-outbox.ts';

/**
 * Notes that a service's database, which has its schema, was restored from a backup: its epoch is raised, and its next start takes up
 * what follows from that. The service has to be stopped. Gives the epoch.
 */
export async function noteRestored(config: StoreConfig): Promise<number> {
  if (config.kind === 'sqlite') {
    using db = new DatabaseSync(config.file, { timeout: 5_000 });
    return await raiseEpoch(new SqliteOutbox(db));
  }
  await using client = new MongoClient(config.url, { writeConcern: { w: 'majority', journal: true } });
  return await raiseEpoch(new MongoOutbox(client.db(config.database), []));
}

async function raiseEpoch(outbox: Outbox): Promise<number> {
  const number = ((await outbox.fact('epoch'))?.number ?? 0) + 1;
  await outbox.noteFact('epoch', { number, isNew: true });
  return number;
}

/**
 * Takes up what follows from a restore: what the service had taken in since its backup is delivered once more. `finish` is to be
 * called once the rest is done.
 */
export async function startOverIfRestored(
  { bus, outbox }: { bus: Bus; outbox: Outbox },
  durables: readonly string[],
): Promise<{ finish(): Promise<void> } | undefined> {
  const epoch = await outbox.fact('epoch');
  if (!epoch?.isNew) return undefined;
  for (const durable of durables) await bus.startOver(durable);
  return { finish: () => outbox.noteFact('epoch', { number: epoch.number }) };
}
