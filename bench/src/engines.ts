import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  accepts,
  addressOf,
  type Engine,
  freePort,
  mongoSpec,
  natsSpec,
  provideEngines,
  redisSpec,
} from '@kith/engines';

const run = promisify(execFile);

/** The engines of a run. They can be pinned to some cores. */
export interface BenchEngines extends AsyncDisposable {
  mongodbUrl: string;
  natsUrl: string;
  redisUrl: string;
  /** The images of the engines, for the report. */
  images: Record<string, string>;
  /** Pins the containers of engines to cores. `cores` has the notation of `taskset`. `undefined` removes the pinning. */
  pin(engines: readonly Engine[], cores: string | undefined): Promise<void>;
  /**
   * Whether `pin` has an effect. If engines are given by URL, `pin` does nothing, because these engines do not belong to the
   * benchmark.
   */
  canPin: boolean;
}

/** Uses MONGODB_URL, NATS_URL and REDIS_URL, or starts containers that are removed after the run. */
export async function benchEngines(progress: (line: string) => void): Promise<BenchEngines> {
  const provided = await provideEngines({ env: process.env, progress });
  if (provided.kind === 'none') throw new Error(provided.reason);
  if (provided.kind === 'urls') {
    const { mongodbUrl, natsUrl, redisUrl } = provided;
    return {
      ...{ mongodbUrl, natsUrl, redisUrl },
      images: { mongo: 'as given', nats: 'as given', redis: 'as given' },
      canPin: false,
      pin: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const { mongo, nats, redis } = provided.images;
  const name = `kith-bench-${randomBytes(4).toString('hex')}`;
  const containers = { mongo: `${name}-mongo`, nats: `${name}-nats`, redis: `${name}-redis` };
  const remove = async () => {
    await run('docker', ['rm', '-f', '-v', ...Object.values(containers)]);
  };
  const ports = { nats: await freePort(), monitor: await freePort(), redis: await freePort() };
  try {
    // If Docker published a port, all data would go through a proxy process or address translation. No deployment has either of
    // these between its parts. So NATS and Redis run on the machine's own network, and the database is reached at its
    // container's address.
    const [toNats = '', script = ''] = natsSpec(nats).command.slice(1);
    await start(containers.nats, nats, [
      ...['sh', toNats],
      script.replace('-m 8222', `-m ${ports.monitor} -a 127.0.0.1 -p ${ports.nats}`),
    ]);
    const redisCommand = [...redisSpec(redis).command, '--port', `${ports.redis}`, '--bind', '127.0.0.1'];
    await start(containers.redis, redis, redisCommand);
    await run('docker', ['run', '-d', '--name', containers.mongo, mongo, ...mongoSpec(mongo).command]);
    const address = await addressOf(containers.mongo);
    await Promise.all([
      listens('127.0.0.1', ports.nats),
      listens('127.0.0.1', ports.redis),
      listens(address, mongoSpec(mongo).port),
    ]);
    const everywhere = `0-${availableParallelism() - 1}`;
    return {
      mongodbUrl: `mongodb://${address}:${mongoSpec(mongo).port}`,
      natsUrl: `nats://127.0.0.1:${ports.nats}`,
      redisUrl: `redis://127.0.0.1:${ports.redis}`,
      images: { mongo, nats, redis },
      canPin: true,
      async pin(names, cores) {
        for (const one of names) {
          await run('docker', ['update', '--cpuset-cpus', cores ?? everywhere, containers[one]]);
        }
      },
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function start(name: string, image: string, command: readonly string[]): Promise<void> {
  await run('docker', ['run', '-d', '--name', name, '--network', 'host', image, ...command]);
}

/** Waits until the address accepts connections. */
async function listens(host: string, port: number): Promise<void> {
  const until = performance.now() + 60_000;
  while (!(await accepts(host, port))) {
    if (performance.now() > until) throw new Error(`Nothing listens on ${host}:${port}.`);
    await sleep(100);
  }
}
