import { noteSlow } from '@kith/base';
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
const installationLabel = 'org.kith.installation';
const folderLabel = 'org.kith.folder';

/** The installation whose data the volumes hold. The passwords for this data are in the installation's data folder. */
export interface Installation {
  id: string;
  /** The data folder, for messages. */
  folder: string;
  /** Whether the installation may have volumes without a label. Earlier versions made such volumes. */
  isOlder: boolean;
}

export interface NamedEnginesOptions {
  /** The beginning of the names of containers (`<name>-mongo`) and volumes (`<name>-mongo-data`). */
  name: string;
  installation: Installation;
  images: Pick<EngineImages, 'mongo' | 'redis' | 'nats'>;
  /** The files for servers with passwords and encrypted connections. Without these files, everybody on this machine may connect. */
  secured?: Secured | undefined;
  progress?: Progress;
}

/**
 * Starts the three engines on permanent volumes, and waits until they are ready. Only this machine can reach them. `stop()` ends
 * and removes the containers. A later start finds the data again.
 * @throws EnginesError if another process runs engines of that name, or if the data belongs to another installation or was made
 * with another image.
 */
export async function startNamedEngines(options: NamedEnginesOptions): Promise<Engines> {
  const { name, installation, images, secured, progress = () => {} } = options;
  const plain = [mongoSpec(images.mongo), natsSpec(images.nats), redisSpec(images.redis)];
  const specs = secured ? plain.map((spec) => securedSpec(spec, secured)) : plain;
  const names = specs.map(({ engine }) => `${name}-${engine}`);
  await refuseIfUsed(name, names, installation);
  // These containers were left by a killed process.
  await removeContainers(names);
  await refuseOthersVolumes(names.map(volumeOf), installation);
  removeAtExit(names);
  progress(`Starting MongoDB, NATS and Redis (${names.join(', ')})`);
  // An engine that shuts down cleanly has less to recover at its next start.
  const end = async () => {
    await docker(['stop', '-t', '30', ...names]);
    await removeContainers(names);
  };
  const giveUp = new AbortController();
  const [mongo, nats, redis] = await Promise.all(
    specs.map((spec) =>
      startOne(spec, options, giveUp.signal).catch((error: unknown) => giveUp.abort(error)),
    ),
  );
  if (giveUp.signal.aborted) {
    await end();
    throw giveUp.signal.reason;
  }
  return enginesOf({ mongo: mongo!, nats: nats!, redis: redis! }, end);
}

/**
 * Throws if a container with one of these names is in use, or does not belong to Kith. If this function does not throw, the
 * caller removes all containers with these names. A container of this installation is never in use, because this process has
 * locked the data folder. The process id in such a container's label is not checked, because another process may have the same
 * id by now.
 */
async function refuseIfUsed(name: string, containers: readonly string[], of: Installation): Promise<void> {
  for (const container of containers) {
    const labels = await labelsOf('container', container);
    if (!labels) continue;
    const label = labels[ownerLabel];
    if (!label) {
      throw new EnginesError(
        `The container ${container} is not one of Kith's; rename it, or set KITH_PREFIX to another name`,
      );
    }
    // A copy of the data folder has the same id, but a lock of its own. So the path of the folder is compared, too.
    const isOwn = labels[installationLabel] === of.id && labels[folderLabel] === of.folder;
    if (!isOwn && isAlive(label) && (await isRunning(container))) {
      throw new EnginesError(
        `The engines named ${name} are in use by process ${label}; stop it, or set KITH_PREFIX to another name`,
      );
    }
  }
}

/** Starts an engine. Gives up when `signal` is aborted, because another engine has failed. */
async function startOne(
  spec: ContainerSpec,
  { name, installation, secured, progress }: NamedEnginesOptions,
  signal: AbortSignal,
): Promise<EngineHandle> {
  const container = `${name}-${spec.engine}`;
  const volume = volumeOf(container);
  const user = secured?.owner;
  await ensureVolume(volume, spec.image, installation);
  if (user) await handOverVolume(volume, spec, user);
  const ports = { client: await freePort(), ...(spec.monitorPort && { monitor: await freePort() }) };
  const flags = [
    ['--name', container],
    ...[`${ownerLabel}=${owner}`, ...labelsFor(installation)].map((label) => ['--label', label]),
    // Without `nocopy`, Docker would copy the image's own folder into the volume. The volume would then belong to the image's user.
    ['--volume', `${volume}:${spec.volume}${user ? ':nocopy' : ''}`],
    // By default, Docker keeps all that a container writes.
    ['--log-driver', 'local'],
    ['--publish', `127.0.0.1:${ports.client}:${spec.port}`],
    ports.monitor ? ['--publish', `127.0.0.1:${ports.monitor}:${spec.monitorPort}`] : [],
    ...spec.mounts.map(mountFlags),
    ...Object.entries(spec.env).map(([key, value]) => ['--env', `${key}=${value}`]),
    spec.flags ?? [],
  ];
  await dockerOrThrow(['run', '--detach', ...flags.flat(), spec.image, ...spec.command]);
  const alive = async () => !signal.aborted && isRunning(container);
  // After a crash, an engine with much data recovers for minutes. If it were ended earlier, it would begin again next time.
  const ready = untilReady(spec.engine, ports, { limitMs: 1_800_000, alive, probe: spec.probe });
  try {
    await noteSlow(ready, () =>
      progress?.(`${container} is still starting; \`docker logs ${container}\` says what it does`),
    );
  } catch (error) {
    throw new EnginesError(`${(error as Error).message}: ${await lastLog(container)}`, { cause: error });
  }
  return engineHandle(spec, container, ports);
}

/** Mounts a folder of this machine. Uses `--mount` (a row of CSV), because a colon would end the path in a `--volume`. */
function mountFlags({ source, target }: ContainerSpec['mounts'][number]): string[] {
  const quoted = `"source=${source.replaceAll('"', '""')}"`;
  return ['--mount', `type=bind,${quoted},target=${target},readonly`];
}

/** The volume that holds the data of a container. */
export function volumeOf(container: string): string {
  return `${container}-data`;
}

/**
 * Throws if volumes belong to another installation. Their data cannot be used without the passwords in that installation's data
 * folder.
 */
async function refuseOthersVolumes(volumes: readonly string[], of: Installation): Promise<void> {
  const others: { volume: string; folder: string | undefined }[] = [];
  for (const volume of volumes) {
    const labels = await labelsOf('volume', volume);
    const owner = labels?.[installationLabel];
    if (labels && owner !== of.id && (owner !== undefined || !of.isOlder))
      others.push({ volume, folder: labels[folderLabel] });
  }
  const [first] = others;
  if (!first) return;
  const { volume, folder } = first;
  const whose =
    folder === undefined
      ? 'another data folder, which an earlier version of Kith did not record'
      : folder === of.folder
        ? `an earlier installation in ${folder}, whose passwords are no longer there`
        : `the installation in ${folder}`;
  throw new EnginesError(
    `The volume ${volume} belongs to ${whose}. Set KITH_DATA to the data folder of that installation, or KITH_PREFIX to another name for this one. If nobody needs that data any more, run: ${removalOf(others.map((one) => one.volume))}`,
  );
}

/** The command that removes volumes, with their data. */
export function removalOf(volumes: readonly string[]): string {
  return `docker volume rm ${volumes.join(' ')}`;
}

// Refuses a volume whose data was written by an engine of another image. An engine of `image` would not find that data, and
// would start empty, as if all data were lost.
async function ensureVolume(volume: string, image: string, installation: Installation): Promise<void> {
  const labels = await labelsOf('volume', volume);
  const made = labels?.[imageLabel];
  const family = (name: string) => name.replace(/(:[^:/]*)?(@.*)?$/, '');
  if (!labels) {
    const flags = [`${imageLabel}=${image}`, ...labelsFor(installation)].flatMap((one) => ['--label', one]);
    await dockerOrThrow(['volume', 'create', ...flags, volume]);
  } else if (made !== undefined && family(made) !== family(image)) {
    throw new EnginesError(
      `The volume ${volume} was written by ${made}, not ${image}; use that image or another name`,
    );
  }
}

function labelsFor({ id, folder }: Installation): string[] {
  return [`${installationLabel}=${id}`, `${folderLabel}=${folder}`];
}

/** The labels of a volume or container. Returns `undefined` if there is no such volume or container. */
async function labelsOf(
  kind: 'volume' | 'container',
  name: string,
): Promise<Record<string, string> | undefined> {
  const place = kind === 'volume' ? '.Labels' : '.Config.Labels';
  const { code, stdout } = await docker([kind, 'inspect', '-f', `{{json ${place}}}`, name]);
  return code === 0 ? ((JSON.parse(stdout) as Record<string, string> | null) ?? {}) : undefined;
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
