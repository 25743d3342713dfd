import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createLogger } from '@kith/base';
import { type Bus, streamNames } from '@kith/bus';
import { InProcessBus } from '@kith/bus/in-process';
import { NatsBus } from '@kith/bus/nats';
import { storingNames } from '@kith/platform';
import type { Engines, TestPlatform } from '@kith/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';

/** Opens a platform's bus a second time, while its services use the bus. */
export async function openBusOf({
  engines,
  prefix,
  dataFolder,
}: TestPlatform): Promise<Bus & AsyncDisposable> {
  const log = createLogger({ name: 'test', level: 'silent' });
  const bus = engines
    ? await NatsBus.connect({ url: engines.natsUrl, name: 'test', prefix, log })
    : new InProcessBus({ prefix, file: join(dataFolder, 'events.sqlite'), log });
  return Object.assign(bus, { [Symbol.asyncDispose]: () => bus.close() });
}

/**
 * Everything that a platform stores, as one text: its files, or its databases and streams. With `logs: false`, SQLite's logs are
 * left out. An embedded platform empties these logs only every ten seconds, and tests/erasure.test.ts checks that it does.
 */
export async function everythingOf(
  { engines, prefix, dataFolder }: TestPlatform,
  { logs = true }: { logs?: boolean } = {},
): Promise<string> {
  if (!engines) return filesIn(dataFolder, logs);
  return (await Promise.all([databasesOf(engines, prefix), streamsOf(engines, prefix)])).join('\n');
}

/** Removes all published events from a platform, as if they were over seven days old. Their dead letters stay. */
export async function expireEvents({ engines, prefix }: TestPlatform): Promise<void> {
  if (!engines) throw new Error('Only the distributed form has a broker.');
  await using client = new MongoClient(engines.mongodbUrl);
  for (const service of storingNames)
    await client
      .db(`${prefix}_${service}`)
      .collection('events')
      .deleteMany({ unpublished: { $exists: false } });
  const connection = await connect({ servers: new URL(engines.natsUrl).host });
  const manager = await jetstreamManager(connection, { checkAPI: false });
  await manager.streams.purge(streamNames(prefix).events);
  await connection.close();
}

/**
 * The content of the files while the platform runs, with or without SQLite's logs. A database is read as a fresh copy, because the
 * file itself may still have former copies of rows in the unused parts of its pages (docs/adr/0014).
 */
async function filesIn(folder: string, logs: boolean): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && (logs || !entry.name.endsWith('-wal')))
    .map(({ parentPath, name }) => join(parentPath, name));
  const copies = await mkdtemp(join(tmpdir(), 'kith-copies-'));
  try {
    const read = (file: string, at: number) =>
      readFile(file.endsWith('.sqlite') ? freshCopy(file, join(copies, `${at}`)) : file, 'latin1');
    return (await Promise.all(files.map(read))).join('\n');
  } finally {
    await rm(copies, { recursive: true });
  }
}

function freshCopy(database: string, copy: string): string {
  using db = new DatabaseSync(database, { readOnly: true });
  db.prepare('VACUUM INTO ?').run(copy);
  return copy;
}

/** The names of the keys under which the gateways of a platform count in Redis, as one text. */
export async function countsOf({ engines, prefix }: TestPlatform): Promise<string> {
  if (!engines) return '';
  const redis = new Redis(engines.redisUrl);
  try {
    return (await redis.keys(`*${prefix}*`)).join('\n');
  } finally {
    redis.disconnect();
  }
}

async function databasesOf({ mongodbUrl }: Engines, prefix: string): Promise<string> {
  await using client = new MongoClient(mongodbUrl);
  const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
  const own = databases.filter(({ name }) => name.startsWith(`${prefix}_`));
  const collections = await Promise.all(own.map(({ name }) => client.db(name).collections()));
  return JSON.stringify(await Promise.all(collections.flat().map((one) => one.find().toArray())));
}

async function streamsOf({ natsUrl }: Engines, prefix: string): Promise<string> {
  const connection = await connect({ servers: new URL(natsUrl).host });
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const texts: string[] = [];
  for (const stream of Object.values(streamNames(prefix))) {
    const { state } = await manager.streams.info(stream);
    // A stream that never had a message begins at 0, but the first message has the number 1.
    for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage(stream, { seq });
      if (message) texts.push(message.subject, String(message.header), message.string());
    }
  }
  await connection.close();
  return texts.join('\n');
}
