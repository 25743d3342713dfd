import { randomBytes } from 'node:crypto';
import { GenericContainer, type WaitStrategy } from 'testcontainers';
import { owner, ownerLabel, removeAtExit, removeContainers, removeOrphans } from './cleanup.ts';
import { type EngineHandle, type Engines, engineHandle, enginesOf, isRunning, lastLog } from './handle.ts';
import type { EngineImages } from './images.ts';
import { freePort } from './ports.ts';
import { type EnginePorts, untilReady } from './probes.ts';
import { type ContainerSpec, mongoSpec, natsSpec, redisSpec } from './specs.ts';
import type { Progress } from './step.ts';

/**
 * Starts the three engines in containers of their own, reachable from this machine only, and waits until
 * they are ready. They and their data are gone after `stop()` and when this process ends.
 */
export async function startContainers(options: {
  images: Pick<EngineImages, 'mongo' | 'redis' | 'nats'>;
  /** A NATS configuration file; its folder is mounted. */
  natsConfig?: string;
  progress?: Progress;
}): Promise<Engines> {
  await removeOrphans();
  const { images, natsConfig, progress = () => {} } = options;
  progress(`Starting ${images.mongo}, ${images.nats} and ${images.redis}`);
  const run = randomBytes(4).toString('hex');
  const specs = [
    mongoSpec(images.mongo),
    natsSpec(images.nats, natsConfig),
    redisSpec(images.redis),
  ] as const;
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

async function startOne(spec: ContainerSpec, name: string, tries = 4): Promise<EngineHandle> {
  const ports = { client: await freePort(), ...(spec.monitorPort && { monitor: await freePort() }) };
  try {
    await new EngineContainer(spec, name, ports).start();
    return engineHandle(spec, name, ports);
  } catch (error) {
    // Between choosing a port and binding it somebody else may have taken it.
    if (tries > 1 && /port is already allocated|address already in use/.test(String(error))) {
      await removeContainers([name]);
      removeAtExit([name]);
      return startOne(spec, name, tries - 1);
    }
    throw new Error(`${spec.engine} (${spec.image}) did not start: ${await lastLog(name)}`, { cause: error });
  }
}

class EngineContainer extends GenericContainer {
  constructor(spec: ContainerSpec, name: string, ports: EnginePorts) {
    super(spec.image);
    const bound = [{ container: spec.port, host: ports.client }];
    if (spec.monitorPort && ports.monitor) bound.push({ container: spec.monitorPort, host: ports.monitor });
    this.withName(name)
      .withEnvironment(spec.env)
      .withLabels({ [ownerLabel]: owner })
      .withBindMounts(spec.mounts.map((mount) => ({ ...mount, mode: 'ro' as const })))
      .withExposedPorts(...bound)
      // The reaper's image can't be had everywhere; `cleanup.ts` does its work.
      .withAutoCleanup(false)
      .withWaitStrategy(new UntilReady(spec, name, ports));
    if (spec.command.length > 0) this.withCommand(spec.command);
    // testcontainers binds to every address, which would open a database without a password to the network.
    this.hostConfig.PortBindings = Object.fromEntries(
      bound.map(({ container, host }) => [
        `${container}/tcp`,
        [{ HostIp: '127.0.0.1', HostPort: `${host}` }],
      ]),
    );
  }
}

class UntilReady implements WaitStrategy {
  readonly #wait: () => Promise<void>;
  #timeoutMs = 90_000;

  constructor({ engine }: ContainerSpec, name: string, ports: EnginePorts) {
    this.#wait = () => untilReady(engine, ports, { limitMs: this.#timeoutMs, alive: () => isRunning(name) });
  }

  waitUntilReady(): Promise<void> {
    return this.#wait();
  }

  withStartupTimeout(timeoutMs: number): this {
    this.#timeoutMs = timeoutMs;
    return this;
  }

  isStartupTimeoutSet(): boolean {
    return true;
  }

  getStartupTimeout(): number {
    return this.#timeoutMs;
  }
}
