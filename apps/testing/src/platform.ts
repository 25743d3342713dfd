import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger, readConfig } from '@kith/base';
import type { KithClient } from '@kith/client';
import type { Project } from '@kith/contracts';
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
import { destination } from 'pino';
import { compileCache } from './compile-cache.ts';
import type { EngineKind } from './engine-kinds.ts';
import { type Engines, startEngines } from './engines.ts';
import { eraseEngines } from './erase-engines.ts';
import { EventRecord, type PlatformEvent, type WaitForEvent } from './event-record.ts';
import { uniquePrefix } from './parts.ts';
import { createPeople, type People, type TestUser } from './people.ts';
import { makePlatformFolder, noteEngines, removeLeftFolders } from './platform-folder.ts';
import { type LogSizes, readLogs } from './platform-logs.ts';
import { platformStarts } from './platform-starts.ts';
import { testClient } from './test-client.ts';
import { createUploads, type Uploads } from './uploads.ts';
import { watchBus, watchNats } from './watch-events.ts';

export interface PlatformOptions {
  /** `embedded` (default): one process, with nothing to install. `containers`: a process for each service, on real engines. */
  engine?: EngineKind;
  /**
   * Environment variables that add to the defaults or replace them. The defaults: a free port, limits off
   * (`RATE_LIMIT_SCALE=0`), `NODE_ENV=test`, and with `embedded` a deadline of 20 s for each request
   * (`REQUEST_TIMEOUT_MS=20000`).
   */
  env?: NodeJS.ProcessEnv;
}

/** A separate platform. No other caller sees its databases, subjects or keys. */
export interface TestPlatform extends Omit<People, 'createUser'>, Uploads, AsyncDisposable {
  /** `http://host:port` of the gateway. */
  url: string;
  /** Where operators’ endpoints are: at `url`, unless ADMIN_PORT gives them a port of their own. */
  adminUrl: string;
  operatorToken: string;
  /** The platform's `KITH_SECRET`. */
  secret: string;
  /** A project that exists from the start. */
  project: Project;
  /** Signs up a user in `project`, or in another project. By default, `email` is unique and `password` is random. */
  createUser: People['createUser'] & ((profile?: Record<string, unknown>) => Promise<TestUser>);
  /** A client of the user's project, signed in as the user. Without a user: a client of `project` that is not signed in. */
  client(user?: TestUser): KithClient;
  /**
   * Waits for an event on the platform's bus. Considers all events since the platform's start. Rejects if the event does not
   * come within 15 s. The error then lists the events that came.
   */
  waitForEvent: WaitForEvent;
  /** Every event so far, in the order of arrival. */
  readonly events: readonly PlatformEvent[];
  /** Calls the API. Body and answer are JSON. Rejects with `CallError` for an answer outside 2xx. */
  call: Call;
  /** With `containers`: the processes. Each can be stopped, killed and started separately. */
  processes: DistributedPlatform | undefined;
  /** With `containers`: the real engines that the platform runs on. */
  engines: Engines | undefined;
  /** The first part of the platform's database names, subjects and keys. */
  prefix: string;
  /** With `embedded`: the folder of the platform's databases. */
  dataFolder: string;
  /** The addresses of the processes' internal ports, where they serve `/metrics`. */
  internalUrls: readonly string[];
  /** All log lines of the platform's processes so far. */
  logs(): Promise<string>;
  stop(): Promise<void>;
}

interface Parts {
  platform: Platform;
  engines?: Engines;
  processes?: DistributedPlatform;
}

const starts = channel(platformStarts);

/** Starts a platform for tests, and waits until it serves. Disposing the platform ends it and erases its data. */
export async function startPlatform(options: PlatformOptions = {}): Promise<TestPlatform> {
  const { engine = 'embedded' } = options;
  starts.publish({ engine });
  const name = uniquePrefix();
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'debug',
    HOST: '127.0.0.1',
    PORT: '0',
    INTERNAL_PORT: '0',
    RATE_LIMIT_SCALE: '0',
    KITH_PREFIX: name,
    OPERATOR_TOKEN: `operator-${name}`,
    KITH_SECRET: `the secret of the installation ${name}`,
    // The embedded platform shares a thread with the test, so each request also waits for the test's own work.
    ...(engine === 'embedded' && { REQUEST_TIMEOUT_MS: '20000' }),
    ...options.env,
  };
  const { KITH_PREFIX: prefix = name, OPERATOR_TOKEN: operatorToken = '', KITH_SECRET: secret = '' } = env;
  // Started parts end in the reverse order, even if a later part does not start.
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(await makePlatformFolder(engine, name)).path;
  const logFolder = join(folder, 'logs');
  await mkdir(logFolder);
  const record = new EventRecord();
  const begin = engine === 'containers' ? onContainers : embedded;
  const { platform, engines, processes } = await begin({ env, prefix, folder, logFolder, record }, starting);
  const place = { operatorToken, secret, prefix, folder, record };
  return await withProject({ ...place, platform, engines, processes }, starting);
}

/**
 * Returns a running platform, with a new project for the caller. `ending` holds the steps that end the caller's use of the
 * platform.
 */
export async function withProject(
  { platform, engines, processes, operatorToken, secret, prefix, folder, record, logsFrom }: Running,
  ending: AsyncDisposableStack,
): Promise<TestPlatform> {
  const call = caller(platform.url);
  // On a busy machine, a newly started platform may refuse requests for a second, or answer 504. The calls below are then
  // repeated, with the same key. Operators' endpoints ignore keys, so at worst, a repeat makes a second project, which nobody
  // uses.
  const patience = { patienceMs: 10_000, isKeyed: true };
  const administer = caller(platform.adminUrl ?? platform.url, patience);
  const people = createPeople(caller(platform.url, patience), operatorToken, administer);
  const project = await people.createProject();
  const running = ending.move();
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= running.disposeAsync());
  return {
    ...people,
    ...createUploads(platform.url),
    url: platform.url,
    adminUrl: platform.adminUrl ?? platform.url,
    operatorToken,
    secret,
    project,
    createUser: (first?: string | Record<string, unknown>, profile?: Record<string, unknown>) =>
      typeof first === 'string'
        ? people.createUser(first, profile)
        : people.createUser(project.id, { ...first }),
    client: (user) => testClient(platform.url, user ?? { projectId: project.id }),
    waitForEvent: record.waitFor,
    get events() {
      return record.all;
    },
    call,
    prefix,
    dataFolder: join(folder, 'data'),
    engines,
    processes,
    get internalUrls() {
      return platform.internalUrls;
    },
    logs: () => readLogs(join(folder, 'logs'), logsFrom),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** A running platform, with the parts that a suite can see. */
interface Running {
  platform: Pick<Platform, 'url' | 'adminUrl' | 'internalUrls'>;
  engines?: Engines | undefined;
  processes?: DistributedPlatform | undefined;
  operatorToken: string;
  secret: string;
  prefix: string;
  folder: string;
  record: EventRecord;
  /** How long each log file was when the caller got the platform. The caller's logs begin there. */
  logsFrom?: LogSizes | undefined;
}

interface Place {
  env: NodeJS.ProcessEnv;
  prefix: string;
  folder: string;
  logFolder: string;
  record: EventRecord;
}

async function embedded(place: Place, starting: AsyncDisposableStack): Promise<Parts> {
  await removeLeftFolders();
  const config = readConfig(platformConfig, place.env);
  const data = openDataFolder(join(place.folder, 'data'));
  const file = destination({ dest: join(place.logFolder, 'kith.log'), sync: true });
  let isOpen = true;
  starting.defer(async () => {
    isOpen = false;
    file.end();
    await once(file, 'close');
  });
  // A line that comes after the platform's end is dropped, because a closed destination would throw.
  const write = (line: string) => void (isOpen && file.write(line));
  const log = createLogger({ name: 'kith', level: config.LOG_LEVEL, destination: { write } });
  const platform = starting.use(await startEmbedded({ config, folder: data, log }));
  starting.use(await watchBus(platform, place.record));
  return { platform };
}

async function onContainers(place: Place, starting: AsyncDisposableStack): Promise<Parts> {
  const { env, prefix, folder, logFolder, record } = place;
  const { PATH, NODE_EXTRA_CA_CERTS, NODE_USE_SYSTEM_CA, SSL_CERT_FILE, SSL_CERT_DIR } = process.env;
  // The services trust the authorities that this process trusts. Node reads these variables.
  const trust = { NODE_EXTRA_CA_CERTS, NODE_USE_SYSTEM_CA, SSL_CERT_FILE, SSL_CERT_DIR };
  // If `env` names only some engines, for example a proxy, this process itself uses the engines of its own environment.
  const namesAll = [env.MONGODB_URL, env.NATS_URL, env.REDIS_URL].every(Boolean);
  const engines = starting.use(
    await startEngines({ env: namesAll ? { ...process.env, ...env } : process.env }),
  );
  await removeLeftFolders({ engines, erase: (left) => eraseEngines(engines, left) });
  if (engines.areGiven) await noteEngines(folder, engines);
  starting.defer(() => eraseEngines(engines, prefix));
  const urls = { MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl, REDIS_URL: engines.redisUrl };
  const processes = starting.use(
    await startDistributed({
      env: {
        ...{ PATH, NODE_COMPILE_CACHE: compileCache(), MAIL_FOLDER: join(folder, 'data', 'mail') },
        ...{ ...trust, ...urls, ...env },
      },
      logFolder,
    }),
  );
  starting.use(await watchNats(engines.natsUrl, prefix, record));
  return { platform: processes, engines, processes };
}
