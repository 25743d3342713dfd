import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hostOfUrl, noteSlow, readConfig, StartError } from '@kith/base';
import { commonConfig } from '@kith/service/config';
import { type ProcessName, secretNames, serviceNames, streamingNames } from '../services.ts';
import type { Platform } from './embedded.ts';
import { type ServiceProcess, startServiceProcess } from './processes.ts';

export interface DistributedOptions {
  /** The variables that every process gets: engines, prefix, gateway settings. */
  env: NodeJS.ProcessEnv;
  /** The variables that only one process gets, such as the seed of its NATS user. */
  envOf?: (name: ProcessName) => NodeJS.ProcessEnv;
  /** The folder of the processes' log files, `<service>.log`. */
  logFolder: string;
  progress?: (line: string) => void;
  /** Called each time a process is up, with its internal address. */
  onUp?: (name: ProcessName, internalUrl: string) => void;
  /**
   * Whether a process that ends by itself is started again. For example, a process ends if its database stays unreachable
   * (docs/adr/0029).
   */
  restarts?: boolean;
}

/** A platform whose services are processes of their own. Each process can be stopped and started separately. */
export interface DistributedPlatform extends Platform {
  /** The running process of a service; `undefined` while it is stopped. */
  process(name: ProcessName): ServiceProcess | undefined;
  /** Starts a stopped service or gateway again. The service or gateway keeps its addresses; only its internal port changes. */
  start(name: ProcessName): Promise<void>;
  /** Ends the gateway. Before its end, the gateway continues to serve for a while (`DRAIN_MS`). Call this before `stop`. */
  drain(): Promise<void>;
}

const all: readonly ProcessName[] = [...serviceNames, 'gateway'];
const streaming: ReadonlySet<ProcessName> = new Set(streamingNames);
const internalConfig = commonConfig.pick({ INTERNAL_HOST: true });
const withSecret: ReadonlySet<ProcessName> = new Set<ProcessName>(['gateway', ...secretNames]);

/** Starts every service and the gateway as processes. The engines already run. Throws `StartError`. */
export async function startDistributed(options: DistributedOptions): Promise<DistributedPlatform> {
  mkdirSync(options.logFolder, { recursive: true, mode: 0o700 });
  const running = new Map<ProcessName, ServiceProcess>();
  let url = '';
  let adminUrl: string | undefined;
  const { INTERNAL_HOST } = readConfig(internalConfig, options.env);
  const internalUrlOf = ({ ready }: ServiceProcess) =>
    `http://${hostOfUrl(INTERNAL_HOST)}:${ready.internalPort}`;
  const { KITH_SECRET: secret } = options.env;
  if (!secret) throw new StartError('KITH_SECRET: a secret of at least 32 characters is needed');
  /** For each service, the address where the service receives and sends bytes. */
  const upstreams = new Map<ProcessName, string>();
  const start = async (name: ProcessName) => {
    const one = await startServiceProcess(name, {
      env: {
        ...options.env,
        INTERNAL_PORT: '0',
        ...(withSecret.has(name) ? { KITH_SECRET: secret } : withoutSecret),
        ...(streaming.has(name) ? { HTTP_PORT: portOf(upstreams.get(name)) } : {}),
        ...(name === 'gateway' ? { UPSTREAMS: [...upstreams].map((one) => one.join('=')).join(',') } : {}),
        ...options.envOf?.(name),
        // A gateway that is started again keeps its ports.
        ...(name === 'gateway' && url ? { PORT: portOf(url) } : {}),
        ...(name === 'gateway' && adminUrl ? { ADMIN_PORT: portOf(adminUrl) } : {}),
      },
      logFile: join(options.logFolder, `${name}.log`),
      progress: options.progress,
      signal: ending.signal,
    });
    running.set(name, one);
    void one.exited.then(() => {
      if (running.get(name) === one) running.delete(name);
      if (options.restarts) void startAgain(name);
    });
    if (one.ready.url) url = one.ready.url;
    if (one.ready.adminUrl) adminUrl = one.ready.adminUrl;
    if (one.ready.httpUrl) upstreams.set(name, one.ready.httpUrl);
    const internalUrl = internalUrlOf(one);
    options.onUp?.(name, internalUrl);
    options.progress?.(`${name} is up, internally at ${internalUrl}`);
  };
  const startAgain = async (name: ProcessName) => {
    while (!isStopping) {
      options.progress?.(`${name} has ended; restarting it`);
      // Waits before each try, because the engines may be unreachable for a long time.
      await pause(restartMs);
      const failure = isStopping ? undefined : await start(name).catch((error: Error) => error);
      if (!failure) return;
      options.progress?.(failure.message);
    }
  };
  let isStopping = false;
  const ending = new AbortController();
  const stop = async () => {
    isStopping = true;
    ending.abort(new StartError('The platform was stopped.'));
    await running.get('gateway')?.interrupt();
    // The gateway has ended, so the services get no more requests from clients, and need not drain.
    await Promise.all([...running.values()].map((one) => one.interrupt()));
  };
  /** Waits for the gateway, which listens before it has identity's keys. */
  const gatewayReady = async () => {
    // On a busy machine with many projects, this may take long. A process may also have ended and be restarted meanwhile.
    for (;;) {
      const gateway = running.get('gateway');
      const ended = all.find((name) => !running.has(name));
      if (ended && !options.restarts)
        throw new StartError(`${ended} has ended; its log is in ${options.logFolder}.`);
      if (gateway && (await isReady(internalUrlOf(gateway)))) return;
      await pause(50);
    }
  };
  try {
    // If one service cannot start, the other services need not become ready any more. So their starts end, too.
    await Promise.all(serviceNames.map((name) => start(name).catch((error: unknown) => ending.abort(error))));
    ending.signal.throwIfAborted();
    // The gateway starts last, because it needs the services' addresses for bytes.
    await start('gateway');
    await noteSlow(gatewayReady(), () => options.progress?.('gateway is up, but not ready yet'));
  } catch (error) {
    await stop();
    throw error;
  }
  let stopping: Promise<void> | undefined;
  const platform: DistributedPlatform = {
    get url() {
      return url;
    },
    get adminUrl() {
      return adminUrl;
    },
    get internalUrls() {
      return [...running.values()].map(internalUrlOf);
    },
    process: (name) => running.get(name),
    start,
    async notReady() {
      return all.filter((name) => !running.has(name));
    },
    async drain() {
      isStopping = true;
      await running.get('gateway')?.stop();
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
    [Symbol.asyncDispose]: () => platform.stop(),
  };
  return platform;
}

/**
 * The port of an HTTP address, so that a restarted process keeps its port. `URL` leaves out port 80, because 80 is the default
 * port of HTTP. At the first start, returns 0, which means any free port.
 */
function portOf(url: string | undefined): string {
  return url ? new URL(url).port || '80' : '0';
}

/** The environment of a process that does not need the secret. */
const withoutSecret = Object.fromEntries(
  ['KITH_SECRET', 'KITH_SECRET_PREVIOUS'].flatMap((name) =>
    ['', '_FILE', '_COMMAND'].map((form) => [`${name}${form}`, undefined]),
  ),
);

const restartMs = 1_000;

/** Whether a process reports at its internal address that it is ready. */
async function isReady(internalUrl: string): Promise<boolean> {
  const signal = AbortSignal.timeout(5_000);
  const answer = await fetch(`${internalUrl}/readyz`, { signal }).catch(() => undefined);
  return answer?.ok ?? false;
}
