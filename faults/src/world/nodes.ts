import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engines, freePort, provideEngines, startContainers } from '@kith/engines';
import { type ProcessName, serviceNames, streamingNames } from '@kith/platform';
import { uniquePrefix, waitFor } from '@kith/testing';
import { NatsLog } from '../check/nats-log.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { type Brokers, startBrokers } from './brokers.ts';
import type { Place } from './place.ts';
import { Replica } from './replica.ts';
import { type SmallDatabase, startSmallDatabase } from './small-database.ts';
import { layWay, type Way } from './way.ts';

export const processNames: readonly ProcessName[] = [...serviceNames, 'gateway'];

/** A host. It has a replica of every service, a gateway, and its own proxy to each engine. */
export interface Node {
  name: string;
  replicas: Record<ProcessName, Replica>;
  ways: { mongo: Way; nats: Way; redis: Way };
}

/** The distributed form: two nodes behind a balancer, with engines that only this platform uses. */
export interface Nodes extends Place {
  engines: Engines;
  /**
   * The three brokers; undefined if the platform has only one. If there are three, `engines.nats` and the proxies to it are not
   * used.
   */
  brokers: Brokers | undefined;
  /** The database whose disk can be filled. If it is set, `engines.mongo` is not used. */
  smallDatabase: SmallDatabase | undefined;
  nodes: readonly [Node, Node];
  replicas: readonly Replica[];
  balancer: Balancer;
  /** The prefix of the names of the platform's databases, of its NATS subjects and of its Redis keys. */
  prefix: string;
}

export async function startNodes(options: {
  brokers: 1 | 3;
  /** `small`: the database has a small disk, which can be filled. */
  disk?: 'small';
  progress: (line: string) => void;
}): Promise<Nodes> {
  const { progress } = options;
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, REDIS_URL: _redis, ...env } = process.env;
  const provided = await provideEngines({ env, progress });
  if (provided.kind !== 'docker')
    throw new Error('The fault suite starts its own engines, so it needs Docker.');
  await using ends = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'kith-faults-'));
  ends.defer(() => (process.env.KITH_FAULTS_KEEP ? undefined : rm(folder, { recursive: true, force: true })));
  if (process.env.KITH_FAULTS_KEEP) progress(`Logs are in ${folder}`);
  const engines = ends.use(await startContainers({ images: provided.images, progress }));
  const brokers = options.brokers === 3 ? ends.use(await startBrokers(provided.images.nats)) : undefined;
  const smallDatabase =
    options.disk === 'small' ? ends.use(await startSmallDatabase(provided.images.mongo)) : undefined;
  const prefix = uniquePrefix();
  const operatorToken = `operator-${prefix}`;
  const ports = new Set<number>();
  // No process listens on the chosen ports yet, so `freePort` can return the same port twice. This function never does.
  const ownPort = async (): Promise<number> => {
    const port = await freePort();
    if (ports.has(port)) return ownPort();
    ports.add(port);
    return port;
  };
  const secret = randomBytes(32).toString('base64url');
  const nodes: Node[] = [];
  for (const name of ['a', 'b']) {
    const ways = {
      mongo: ends.use(await layWay(new URL(smallDatabase?.url ?? engines.mongodbUrl))),
      nats: ends.use(await layWay(new URL(engines.natsUrl))),
      redis: ends.use(await layWay(new URL(engines.redisUrl))),
    };
    // Each gateway sends uploads and downloads over HTTP, to the services on its own node.
    const streams = new Map<ProcessName, string>();
    for (const one of streamingNames) streams.set(one, String(await ownPort()));
    const shared = {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled'),
      NODE_ENV: 'test',
      LOG_LEVEL: 'info',
      HOST: '127.0.0.1',
      RATE_LIMIT_SCALE: '100000',
      // This is longer than the balancer needs to notice that a gateway is not ready.
      DRAIN_MS: '7000',
      KITH_PREFIX: prefix,
      OPERATOR_TOKEN: operatorToken,
      KITH_SECRET: secret,
      UPSTREAMS: [...streams].map(([one, port]) => `${one}=http://127.0.0.1:${port}`).join(','),
      MONGODB_URL: `mongodb://127.0.0.1:${ways.mongo.port}`,
      NATS_URL: brokers?.urls.join(',') ?? `nats://127.0.0.1:${ways.nats.port}`,
      ...(brokers && { NATS_STREAM_REPLICAS: String(brokers.urls.length) }),
      REDIS_URL: `redis://127.0.0.1:${ways.redis.port}`,
    };
    const replicas = {} as Record<ProcessName, Replica>;
    for (const process of processNames) {
      replicas[process] = new Replica({
        name: process,
        node: name,
        env: { ...shared, PORT: String(await ownPort()), HTTP_PORT: streams.get(process) },
        internalPort: await ownPort(),
        logFile: join(folder, `${process}-${name}.log`),
      });
    }
    nodes.push({ name, replicas, ways });
  }
  const replicas = nodes.flatMap((node) => Object.values(node.replicas));
  ends.defer(async () => void (await Promise.all(replicas.map((one) => one.stop()))));
  progress('Starting two replicas of every process');
  await Promise.all(replicas.map((one) => one.start()));
  const balancer = ends.use(await startBalancer(nodes.map(({ replicas: { gateway } }) => gateway.upstream)));
  const servers = (brokers?.urls ?? [engines.natsUrl]).map((one) => one.replace('nats://', ''));
  const running = ends.move();
  return {
    url: balancer.url,
    engines,
    brokers,
    smallDatabase,
    log: new NatsLog({ servers }, prefix),
    nodes: nodes as [Node, Node],
    replicas,
    balancer,
    prefix,
    operatorToken,
    async allReady(timeoutMs) {
      const from = performance.now();
      await waitFor(
        async () => {
          const states = await Promise.all(replicas.map((one) => one.isReady()));
          const away = replicas
            .filter((_, index) => !states[index])
            .map(({ name, node }) => `${name} ${node}`);
          if (away.length > 0) throw new Error(`not ready: ${away.join(', ')}`);
          return true;
        },
        { timeoutMs, what: 'every process to be ready' },
      );
      return performance.now() - from;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
