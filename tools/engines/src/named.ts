import { join } from 'node:path';
import { isAlive, owner, ownerLabel, removeAtExit, removeContainers } from './cleanup.ts';
import { docker, dockerOrThrow } from './docker.ts';
import { type EngineHandle, type Engines, engineHandle, enginesOf, isRunning, lastLog } from './handle.ts';
import type { EngineImages } from './images.ts';
import { freePort } from './ports.ts';
import { untilReady } from './probes.ts';
import { type ContainerSpec, mongoSpec, natsSpec, redisSpec } from './specs.ts';
import { EnginesError, type Progress } from './step.ts';

const imageLabel = 'org.kith.image';

export interface NamedEnginesOptions {
  /** What containers (`<name>-mongo`) and volumes (`<name>-mongo-data`) are called. */
  name: string;
  images: Pick<EngineImages, 'mongo' | 'redis' | 'nats'>;
  /** A folder with `nats.conf` and what that includes; without it NATS is open. */
  natsConfigDir?: string;
  progress?: Progress;
}

/**
 * Starts the three engines on volumes that stay, reachable from this machine only, and waits until they are
 * ready. `stop()` ends and removes the containers; a later start finds the data again.
 * @throws EnginesError where another process runs engines of that name, or the data is another image's.
 */
export async function startNamedEngines(options: NamedEnginesOptions): Promise<Engines> {
  const { name, images, natsConfigDir, progress = () => {} } = options;
  const natsConfig = natsConfigDir && join(natsConfigDir, 'nats.conf');
  const specs = [
    mongoSpec(images.mongo),
    natsSpec(images.nats, natsConfig),
    redisSpec(images.redis),
  ] as const;
  const names = specs.map(({ engine }) => `${name}-${engine}`);
  await refuseIfUsed(name, names);
  // What a process that was killed has left.
  await removeContainers(names);
  removeAtExit(names);
  progress(`Starting MongoDB, NATS and Redis (${names.join(', ')})`);
  try {
    const [mongo, nats, redis] = await Promise.all(specs.map((spec) => startOne(spec, name)));
    return enginesOf({ mongo: mongo!, nats: nats!, redis: redis! }, async () => {
      await docker(['stop', '-t', '30', ...names]);
      await removeContainers(names);
    });
  } catch (error) {
    await removeContainers(names);
    throw error;
  }
}

async function refuseIfUsed(name: string, containers: readonly string[]): Promise<void> {
  for (const container of containers) {
    const label = await labelOf(['inspect', '-f', `{{index .Config.Labels "${ownerLabel}"}}`, container]);
    if (label && isAlive(label) && (await isRunning(container))) {
      throw new EnginesError(`The engines named ${name} are in use by process ${label}`);
    }
  }
}

async function startOne(spec: ContainerSpec, name: string): Promise<EngineHandle> {
  const container = `${name}-${spec.engine}`;
  const volume = `${container}-data`;
  await ensureVolume(volume, spec.image);
  const ports = { client: await freePort(), ...(spec.monitorPort && { monitor: await freePort() }) };
  const flags = [
    ['--name', container],
    ['--label', `${ownerLabel}=${owner}`],
    ['--volume', `${volume}:${spec.volume}`],
    ['--publish', `127.0.0.1:${ports.client}:${spec.port}`],
    ports.monitor ? ['--publish', `127.0.0.1:${ports.monitor}:${spec.monitorPort}`] : [],
    ...spec.mounts.map(({ source, target }) => ['--volume', `${source}:${target}:ro`]),
    ...Object.entries(spec.env).map(([key, value]) => ['--env', `${key}=${value}`]),
  ];
  await dockerOrThrow(['run', '--detach', ...flags.flat(), spec.image, ...spec.command]);
  try {
    await untilReady(spec.engine, ports, { limitMs: 90_000, alive: () => isRunning(container) });
  } catch (error) {
    throw new EnginesError(`${(error as Error).message}: ${await lastLog(container)}`, { cause: error });
  }
  return engineHandle(spec, container, ports);
}

// One image would not find another's data there and start again, as if all were lost.
async function ensureVolume(volume: string, image: string): Promise<void> {
  const made = await labelOf(['volume', 'inspect', '-f', `{{index .Labels "${imageLabel}"}}`, volume]);
  const family = (name: string) => name.replace(/(:[^:/]*)?(@.*)?$/, '');
  if (made === '') await dockerOrThrow(['volume', 'create', '--label', `${imageLabel}=${image}`, volume]);
  else if (family(made) !== family(image)) {
    throw new EnginesError(
      `The volume ${volume} was written by ${made}, not ${image}; use that image or another name`,
    );
  }
}

async function labelOf(args: readonly string[]): Promise<string> {
  const { code, stdout } = await docker(args);
  const value = stdout.trim();
  return code === 0 && value !== '<no value>' ? value : '';
}
