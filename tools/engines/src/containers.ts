import { randomBytes } from 'node:crypto';
import { removeAtExit, removeContainers, removeOrphans } from './cleanup.ts';
import { type EngineHandle, type Engines, engineHandle, enginesOf } from './handle.ts';
import type { EngineImages } from './images.ts';
import { freePort } from './ports.ts';
import { type Secured, securedSpec } from './secured.ts';
import { type ContainerSpec, mongoSpec, natsSpec, redisSpec } from './specs.ts';
import type { Progress } from './step.ts';

/**
 * Starts the three engines in containers of their own, and waits until they are ready. Only this machine can reach them.
 * `stop()` removes the containers and their data. They are also removed when this process ends.
 */
export async function startContainers(options: {
  images: Pick<EngineImages, 'mongo' | 'redis' | 'nats'>;
  /** The files for servers with passwords and encrypted connections. Without these files, everybody on this machine may connect. */
  secured?: Secured;
  /** Whether the data is in memory. If so, an engine that is stopped and started again has lost its data. */
  isInMemory?: boolean;
  progress?: Progress;
}): Promise<Engines> {
  await removeOrphans();
  const { images, secured, isInMemory = false, progress = () => {} } = options;
  progress(`Starting ${images.mongo}, ${images.nats} and ${images.redis}`);
  const run = randomBytes(4).toString('hex');
  const plain = [mongoSpec(images.mongo), natsSpec(images.nats), redisSpec(images.redis)];
  const specs = plain.map((spec) => ({ ...(secured ? securedSpec(spec, secured) : spec), isInMemory }));
  const names = specs.map(({ engine }) => `kith-test-${run}-${engine}`);
  removeAtExit(names);
  const started = await Promise.allSettled(specs.map((spec, i) => startOne(spec, names[i]!)));
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    await removeContainers(names);
    throw failed.reason;
  }
  const [mongo, nats, redis] = started.map(
    (result) => (result as PromiseFulfilledResult<EngineHandle>).value,
  );
  return enginesOf({ mongo: mongo!, nats: nats!, redis: redis! }, () => removeContainers(names));
}

/**
 * Starts one engine in a container of its own. The container is removed when the returned object is disposed, or when this process
 * ends.
 */
export async function startContainer(spec: ContainerSpec): Promise<EngineHandle & AsyncDisposable> {
  const name = `kith-test-${randomBytes(4).toString('hex')}-${spec.engine}`;
  removeAtExit([name]);
  const handle = await startOne(spec, name);
  return Object.assign(handle, { [Symbol.asyncDispose]: () => removeContainers([name]) });
}

async function startOne(spec: ContainerSpec, name: string, tries = 4): Promise<EngineHandle> {
  // This import is not at the top of the file, because it loads Docker's whole client. Most files that import containers.ts do
  // not need that client.
  const { EngineContainer } = await import('./engine-container.ts');
  const ports = { client: await freePort(), ...(spec.monitorPort && { monitor: await freePort() }) };
  try {
    await new EngineContainer(spec, name, ports).start();
    return engineHandle(spec, name, ports);
  } catch (error) {
    // Another process may have taken the port after it was chosen and before it is used.
    if (tries > 1 && /port is already allocated|address already in use/.test(String(error))) {
      await removeContainers([name]);
      removeAtExit([name]);
      return startOne(spec, name, tries - 1);
    }
    throw new Error(`${spec.engine} (${spec.image}) did not start: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
