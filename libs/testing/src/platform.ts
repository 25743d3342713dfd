import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Call,
  caller,
  type DistributedPlatform,
  openDataFolder,
  type Platform,
  platformConfig,
  startDistributed,
  startEmbedded,
} from '@kith/platform';
import { createLogger, readConfig, streamNames } from '@kith/service';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { MongoClient } from 'mongodb';
import { destination } from 'pino';
import type { EngineKind } from './engine-kinds.ts';
import { type Engines, startEngines } from './engines.ts';
import { uniquePrefix } from './parts.ts';
import { createPeople, type People } from './people.ts';

export interface PlatformOptions {
  /** `embedded` (default): one process, nothing to install. `containers`: each service a process on real engines. */
  engine?: EngineKind;
  /** Environment on top of the defaults: a free port, limits off (`RATE_LIMIT_SCALE=0`), `NODE_ENV=test`. */
  env?: NodeJS.ProcessEnv;
}

/** A whole platform of its own: no other caller sees its databases, subjects or keys. */
export interface TestPlatform extends People, AsyncDisposable {
  /** `http://host:port` of the gateway. */
  url: string;
  operatorToken: string;
  /** Calls the API, JSON in and out; rejects with `CallError` outside 2xx. */
  call: Call;
  /** With `containers`: the processes, to stop, kill and start one by one. */
  processes: DistributedPlatform | undefined;
  /** The real engines it runs on, with `containers`. */
  engines: Engines | undefined;
  /** First part of its database, subject and key names. */
  prefix: string;
  /** Folder of its databases, with `embedded`. */
  dataFolder: string;
  /** All that its processes have logged so far. */
  logs(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a platform for tests and waits until it serves. Disposing it ends it and erases its data. */
export async function startPlatform(options: PlatformOptions = {}): Promise<TestPlatform> {
  const prefix = uniquePrefix();
  const folder = await mkdtemp(join(tmpdir(), 'kith-platform-'));
  const operatorToken = `operator-${prefix}`;
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'debug',
    HOST: '127.0.0.1',
    PORT: '0',
    INTERNAL_PORT: '0',
    RATE_LIMIT_SCALE: '0',
    KITH_PREFIX: prefix,
    OPERATOR_TOKEN: operatorToken,
    ...options.env,
  };
  const logFolder = join(folder, 'logs');
  await mkdir(logFolder);
  const started =
    options.engine === 'containers'
      ? await onContainers(env, logFolder)
      : { platform: await embedded(env, folder, logFolder), engines: undefined };
  const { platform, engines } = started;
  const call = caller(platform.url);
  const stop = async () => {
    await platform.stop();
    if (engines) {
      await eraseEngines(engines, prefix);
      await engines[Symbol.asyncDispose]();
    }
    await rm(folder, { recursive: true, force: true });
  };
  return {
    url: platform.url,
    operatorToken,
    call,
    prefix,
    dataFolder: join(folder, 'data'),
    engines,
    processes: engines ? (platform as DistributedPlatform) : undefined,
    ...createPeople(call, operatorToken),
    async logs() {
      const files = await readdir(logFolder);
      return (await Promise.all(files.map((file) => readFile(join(logFolder, file), 'utf8')))).join('');
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function embedded(env: NodeJS.ProcessEnv, folder: string, logFolder: string): Promise<Platform> {
  const config = readConfig(platformConfig, env);
  const data = openDataFolder(join(folder, 'data'));
  const file = destination({ dest: join(logFolder, 'kith.log'), sync: true });
  const log = createLogger({ name: 'kith', level: config.LOG_LEVEL, destination: file });
  return startEmbedded({ config, folder: data, log });
}

async function onContainers(
  env: NodeJS.ProcessEnv,
  logFolder: string,
): Promise<{ platform: DistributedPlatform; engines: Engines }> {
  const engines = await startEngines();
  const urls = { MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl, REDIS_URL: engines.redisUrl };
  const platform = await startDistributed({ env: { PATH: process.env.PATH, ...urls, ...env }, logFolder });
  return { platform, engines };
}

/** Takes away what a prefix left on shared engines. */
export async function eraseEngines(engines: Engines, prefix: string): Promise<void> {
  await using client = new MongoClient(engines.mongodbUrl);
  const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
  const own = databases.filter(({ name }) => name.startsWith(`${prefix}_`));
  await Promise.all(own.map(({ name }) => client.db(name).dropDatabase()));
  await eraseStreams(engines.natsUrl, prefix);
}

/** Takes away a prefix's streams. */
export async function eraseStreams(natsUrl: string, prefix: string): Promise<void> {
  const connection = await connect({ servers: natsUrl.replace(/^nats:\/\//, '') });
  const manager = await jetstreamManager(connection, { checkAPI: false });
  for (const stream of Object.values(streamNames(prefix))) {
    await manager.streams.delete(stream).catch(() => undefined);
  }
  await connection.close();
}
