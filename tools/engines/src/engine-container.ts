import { GenericContainer, type WaitStrategy } from 'testcontainers';
import { owner, ownerLabel } from './cleanup.ts';
import { isRunning, lastLog } from './handle.ts';
import { type EnginePorts, untilReady } from './probes.ts';
import type { ContainerSpec } from './specs.ts';

/** A container of an engine. Only this machine can reach it. It counts as started once the engine is ready. */
export class EngineContainer extends GenericContainer {
  constructor(spec: ContainerSpec, name: string, ports: EnginePorts) {
    super(spec.image);
    const bound = [{ container: spec.port, host: ports.client }];
    if (spec.monitorPort && ports.monitor) bound.push({ container: spec.monitorPort, host: ports.monitor });
    this.withName(name)
      .withEnvironment(spec.env)
      .withLabels({ [ownerLabel]: owner })
      .withBindMounts(spec.mounts.map((mount) => ({ ...mount, mode: 'ro' as const })))
      .withExposedPorts(...bound)
      // The image of testcontainers' reaper is not available everywhere. `cleanup.ts` does the reaper's work.
      .withAutoCleanup(false)
      .withWaitStrategy(new UntilReady(spec, name, ports));
    if (spec.isInMemory) this.withTmpFs({ [spec.volume]: 'rw' });
    if (spec.user) {
      const [uid, gid] = spec.user.split(':');
      // A volume would belong to the image's own user and not to `spec.user`, so the data is in a file system in memory.
      this.withUser(spec.user).withTmpFs({ [spec.volume]: `uid=${uid},gid=${gid},mode=0700` });
    }
    if (spec.command.length > 0) this.withCommand(spec.command);
    // By default testcontainers binds ports to every address. A database without a password would then be open to the network.
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

  constructor({ engine, probe }: ContainerSpec, name: string, ports: EnginePorts) {
    this.#wait = () =>
      untilReady(engine, ports, { limitMs: this.#timeoutMs, alive: () => isRunning(name), probe }).catch(
        // testcontainers removes the container before it throws the error, so the log is read here.
        async (error: Error) => {
          throw new Error(`${error.message}: ${await lastLog(name)}`, { cause: error });
        },
      );
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
