import { isAlive, owner, ownerLabel, removeAtExit, removeContainers } from './cleanup.ts';
import { docker, dockerOrThrow } from './docker.ts';
import { type EngineHandle, type Engines, engineHandle, enginesOf, isRunning, lastLog } from './handle.ts';
import type { EngineImages } from './images.ts';
import { freePort } from './ports.ts';
import { untilReady } from './probes.ts';
import { type Secured, securedSpec } from './secured.ts';
import { type ContainerSpec, mongoSpec, natsSpec, redisSpec } from './specs.ts';
import { EnginesError, type Progress } from './step.ts';

const imageLabel = 'org.kith.image';

export interface NamedEnginesOptions {
  /** The beginning of the names of containers (`<name>-mongo`) and volumes (`<name>-mongo-data`). */
  name: string;
  images: Pick<EngineImages, 'mongo' | 'redis' | 'nats'>;
  /** The files for servers with passwords and encrypted connections. Without these files, everybody on this machine may connect. */
  secured?: Secured | undefined;
  progress?: Progress;
}

/**
 * Starts the three engines on permanent volumes, and waits until they are ready. Only this machine can reach them. `stop()` ends
 * and removes the containers. A later start finds the data again.
 * @throws EnginesError if another process runs engines of that name, or if the data was made with another image.
 */
export async function startNamedEngines(options: NamedEnginesOptions): Promise<Engines> {
  const { name, images, secured, progress = () => {} } = options;
  const plain = [mongoSpec(images.mongo), natsSpec(images.nats), redisSpec(images.redis)];
  const specs = secured ? plain.map((spec) => securedSpec(spec, secured)) : plain;
  const names = specs.map(({ engine }) => `${name}-${engine}`);
  await refuseIfUsed(name, names);
  // These containers were left by a killed process.
  await removeContainers(names);
  removeAtExit(names);
  progress(`Starting MongoDB, NATS and Redis (${names.join(', ')})`);
  try {
    const [mongo, nats, redis] = await Promise.all(specs.map((spec) => startOne(spec, name, secured?.owner)));
    return enginesOf({ mongo: mongo!, nats: nats!, redis: redis! }, async () => {
      await docker(['stop', '-t', '30', ...names]);
      await removeContainers(names);
    });
  } catch (error) {
    await removeContainers(names);
    throw error;
  }
}

/** Throws if a container of these names is in use, or is not one of Kith's. Others are removed, with their data. */
async function refuseIfUsed(name: string, containers: readonly string[]): Promise<void> {
  for (const container of containers) {
    if ((await docker(['container', 'inspect', container])).code !== 0) continue;
    const label = await labelOf(['inspect', '-f', `{{index .Config.Labels "${ownerLabel}"}}`, container]);
    if (!label) {
      throw new EnginesError(
        `The container ${container} is not one of Kith's; rename it, or set KITH_PREFIX to another name`,
      );
    }
    if (isAlive(label) && (await isRunning(container))) {
      throw new EnginesError(`The engines named ${name} are in use by process ${label}`);
    }
  }
}

async function startOne(
  spec: ContainerSpec,
  name: string,
  user: Secured['owner'] | undefined,
): Promise<EngineHandle> {
  const container = `${name}-${spec.engine}`;
  const volume = `${container}-data`;
  await ensureVolume(volume, spec.image);
  if (user) await handOverVolume(volume, spec, user);
  const ports = { client: await freePort(), ...(spec.monitorPort && { monitor: await freePort() }) };
  const flags = [
    ['--name', container],
    ['--label', `${ownerLabel}=${owner}`],
    // Without `nocopy`, Docker would copy the image's own folder into the volume. The volume would then belong to the image's user.
    ['--volume', `${volume}:${spec.volume}${user ? ':nocopy' : ''}`],
    ['--publish', `127.0.0.1:${ports.client}:${spec.port}`],
    ports.monitor ? ['--publish', `127.0.0.1:${ports.monitor}:${spec.monitorPort}`] : [],
    ...spec.mounts.map(({ source, target }) => ['--volume', `${source}:${target}:ro`]),
    ...Object.entries(spec.env).map(([key, value]) => ['--env', `${key}=${value}`]),
    spec.flags ?? [],
  ];
  await dockerOrThrow(['run', '--detach', ...flags.flat(), spec.image, ...spec.command]);
  try {
    const alive = () => isRunning(container);
    await untilReady(spec.engine, ports, { limitMs: 90_000, alive, probe: spec.probe });
  } catch (error) {
    throw new EnginesError(`${(error as Error).message}: ${await lastLog(container)}`, { cause: error });
  }
  return engineHandle(spec, container, ports);
}

// If the volume holds another image's data, this image would not find the data. It would start empty, as if all data were lost.
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

/** Makes the engine's user the owner of the volume. Root has made the volume, and engines of an earlier version ran as root. */
async function handOverVolume(
  volume: string,
  { image, volume: target }: ContainerSpec,
  { uid, gid }: Secured['owner'],
): Promise<void> {
  const script = `[ "$(stat -c %u ${target})" = ${uid} ] || chown -R ${uid}:${gid} ${target}`;
  const rights = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'].flatMap((name) => ['--cap-add', name]);
  await dockerOrThrow([
    ...['run', '--rm', '--user', '0:0', '--network', 'none', '--cap-drop', 'ALL', ...rights],
    ...['--volume', `${volume}:${target}:nocopy`, '--entrypoint', 'sh', image, '-c', script],
  ]);
}

async function labelOf(args: readonly string[]): Promise<string> {
  const { code, stdout } = await docker(args);
  const value = stdout.trim();
  return code === 0 && value !== '<no value>' ? value : '';
}
