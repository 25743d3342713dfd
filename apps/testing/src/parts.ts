import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, type Logger, Metrics, Secrets } from '@kith/base';
import type { Bus } from '@kith/bus';
import { InProcessBus } from '@kith/bus/in-process';
import { NatsBus } from '@kith/bus/nats';
import type { ServiceRuntime } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import { MongoClient } from 'mongodb';
import type { EngineKind } from './engine-kinds.ts';
import { startEngines } from './engines.ts';

/** Makes a different prefix for each caller. So suites that share engines do not disturb each other. */
export function uniquePrefix(): string {
  return `t${randomBytes(6).toString('hex')}`;
}

/**
 * The log of a test's services. By default, the log is silent. Set KITH_TEST_LOG to a level to see the log, for example to
 * understand a failure.
 */
export function testLog(env = process.env): Logger {
  return createLogger({ name: 'test', level: env.KITH_TEST_LOG || 'silent' });
}

/** In tests, services seal their data under these secrets. */
export const testSecrets = new Secrets('the secret that services of suites seal under');

/** A place for one service's data. Disposing it erases the data. */
export async function createStore(engine: EngineKind): Promise<{ config: StoreConfig } & AsyncDisposable> {
  if (engine === 'embedded') {
    const folder = await mkdtemp(join(tmpdir(), 'kith-store-'));
    return {
      config: { kind: 'sqlite', file: join(folder, 'store.sqlite') },
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
    };
  }
  const engines = await startEngines();
  const database = `kith_${uniquePrefix()}`;
  return {
    // The many stores of a suite open more connections at the same time than any service does. So on a busy machine, they may
    // have to wait longer for a connection.
    config: { kind: 'mongo', url: withWaits(engines.mongodbUrl), database },
    async [Symbol.asyncDispose]() {
      await using client = new MongoClient(engines.mongodbUrl);
      await client.db(database).dropDatabase();
      await engines[Symbol.asyncDispose]();
    },
  };
}

function withWaits(mongodbUrl: string): string {
  const url = new URL(mongodbUrl);
  url.searchParams.set('waitQueueTimeoutMS', '20000');
  return url.href;
}

/** A bus with a prefix of its own. */
export async function createBus(engine: EngineKind, prefix = uniquePrefix()): Promise<Bus & AsyncDisposable> {
  const log = testLog();
  if (engine === 'embedded') {
    const bus = new InProcessBus({ prefix, file: ':memory:', log });
    return Object.assign(bus, { [Symbol.asyncDispose]: () => bus.close() });
  }
  const engines = await startEngines();
  const bus = await NatsBus.connect({ url: engines.natsUrl, name: 'test', prefix, log });
  const dispose = async () => {
    await bus.close();
    await engines[Symbol.asyncDispose]();
  };
  return Object.assign(bus, { [Symbol.asyncDispose]: dispose });
}

/** A runtime for one service, with a bus of its own, the log of `testLog`, and metrics. */
export async function createRuntime(engine: EngineKind): Promise<ServiceRuntime & AsyncDisposable> {
  const bus = await createBus(engine);
  return {
    bus,
    log: testLog(),
    metrics: new Metrics(),
    nodeEnv: 'test',
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  };
}
