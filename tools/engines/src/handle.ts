import { docker, dockerOrThrow } from './docker.ts';
import { accepts } from './ports.ts';
import { type EnginePorts, untilReady } from './probes.ts';
import type { ContainerSpec, Engine } from './specs.ts';

/** One engine's running container. The URL stays the same when the container is stopped and started again. */
export interface EngineHandle {
  readonly engine: Engine;
  /** The container's name, for the Docker command line. */
  readonly container: string;
  readonly url: string;
  /**
   * Finds the URL of the container itself. Connections to this URL cost less CPU time, because they do not pass through
   * Docker's proxy. The URL is valid until the container stops. If this machine cannot reach the container, because Docker runs
   * in a virtual machine, returns `url`.
   */
  directUrl(): Promise<string>;
  /** The HTTP port of NATS's monitoring pages. Other engines have none. */
  readonly monitorPort?: number;
  /** Stops the engine as an operator would. Its data stays. */
  stop(): Promise<void>;
  /** Starts the stopped engine again, and waits until it is ready. */
  start(): Promise<void>;
  /** Sends a signal to the engine, by default SIGKILL. SIGHUP makes NATS read its configuration again. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Freezes the engine. The engine's connections stay open, but the engine answers nothing. */
  pause(): Promise<void>;
  unpause(): Promise<void>;
}

/** The three running engines, with their URLs. */
export interface Engines extends AsyncDisposable {
  readonly mongodbUrl: string;
  readonly natsUrl: string;
  readonly redisUrl: string;
  readonly mongo: EngineHandle;
  readonly nats: EngineHandle;
  readonly redis: EngineHandle;
  /** Ends and removes the containers. */
  stop(): Promise<void>;
}

const schemes: Record<Engine, string> = { mongo: 'mongodb', nats: 'nats', redis: 'redis' };
const encrypted: Record<Engine, string> = { mongo: 'mongodb', nats: 'tls', redis: 'rediss' };

/** Controls an existing container. */
export function engineHandle(spec: ContainerSpec, container: string, ports: EnginePorts): EngineHandle {
  const { engine, probe } = spec;
  const control = (...args: string[]) => dockerOrThrow([...args, container]).then(() => {});
  const scheme = (probe ? encrypted : schemes)[engine];
  const url = `${scheme}://127.0.0.1:${ports.client}`;
  return {
    engine,
    container,
    url,
    directUrl: async () => {
      const host = await addressOf(container);
      return host && (await accepts(host, spec.port)) ? `${scheme}://${host}:${spec.port}` : url;
    },
    ...(ports.monitor && { monitorPort: ports.monitor }),
    stop: () => control('stop', '-t', '30'),
    start: async () => {
      await control('start');
      await untilReady(engine, ports, { alive: () => isRunning(container), probe });
    },
    kill: (signal = 'SIGKILL') => control('kill', '-s', signal),
    pause: () => control('pause'),
    unpause: () => control('unpause'),
  };
}

/** Combines the handles of the three engines. `remove` removes all containers, and is called only once. */
export function enginesOf(handles: Record<Engine, EngineHandle>, remove: () => Promise<void>): Engines {
  let removed: Promise<void> | undefined;
  const stop = () => (removed ??= remove());
  return {
    ...handles,
    mongodbUrl: handles.mongo.url,
    natsUrl: handles.nats.url,
    redisUrl: handles.redis.url,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Runs a command in a container, and returns its output. */
export function runInContainer(container: string, command: readonly string[]): Promise<string> {
  return dockerOrThrow(['exec', container, ...command]);
}

/** A container's IP address in Docker's own network. Returns an empty string if it has none. */
export async function addressOf(container: string): Promise<string> {
  const format = '{{range .NetworkSettings.Networks}}{{println .IPAddress}}{{end}}';
  const [first = ''] = (await dockerOrThrow(['inspect', '-f', format, container])).split('\n');
  return first;
}

/** Whether a container is running. If Docker does not answer, the container counts as running, because it may be running. */
export async function isRunning(container: string): Promise<boolean> {
  const { code, stdout, stderr } = await docker(['inspect', '-f', '{{.State.Running}}', container]);
  return code === 0 ? stdout.trim() === 'true' : !/no such/i.test(stderr);
}

/** The last lines that a container has printed, for the message of a failure. */
export async function lastLog(container: string): Promise<string> {
  return dockerOrThrow(['logs', '--tail', '5', container]).catch(() => '');
}
