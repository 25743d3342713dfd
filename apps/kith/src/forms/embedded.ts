import {
  hostOfUrl,
  type InternalServer,
  type Logger,
  Metrics,
  StartError,
  startInternalServer,
} from '@kith/base';
import { type Bus, observedBus } from '@kith/bus';
import { InProcessBus } from '@kith/bus/in-process';
import { type RunningGateway, startGateway } from '@kith/gateway';
import { type RunningService, secretsOf, startByManifest } from '@kith/service';
import { durables, services, storingNames } from '../services.ts';
import { isCopy, readManifest } from './backup-manifest.ts';
import type { PlatformConfig } from './config.ts';
import type { OpenDataFolder } from './data-folder.ts';
import { filesFolder } from './files-of.ts';
import { checkInstallation } from './installation.ts';
import { withSecret } from './installation-secret.ts';
import { keptInFolder } from './kept-in-folder.ts';
import { noteLostChanges } from './lost-changes.ts';

/** A running platform, with its HTTP address and a way to end it. */
export interface Platform extends AsyncDisposable {
  /** `http://host:port` of the gateway. */
  url: string;
  /** The address of the operators' endpoints, if they have a port of their own. */
  readonly adminUrl?: string | undefined;
  /** The addresses of the processes' internal ports, where they serve `/metrics`. */
  readonly internalUrls: readonly string[];
  /** What is missing before the platform is ready. Empty if the platform is ready. */
  notReady(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** A platform in this process, with the bus that its services use. */
export interface EmbeddedPlatform extends Platform {
  readonly bus: Bus;
  /** Reports that the platform is not ready, but continues to serve for a while (`DRAIN_MS`). Call this before `stop`. */
  drain(): Promise<void>;
}

export interface EmbeddedOptions {
  config: PlatformConfig;
  /** The opened data folder. It is released when the platform stops. */
  folder: OpenDataFolder;
  log: Logger;
  /** Whether the internal port may be any free port if the configured port is taken. */
  internalPortMayMove?: boolean;
}

/**
 * Starts gateway and services in this process. The bus and the limits are in memory, and the data is in SQLite files of the data
 * folder. Throws `StartError` with one sentence, for example if a port is taken or the disk is full.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPlatform> {
  const { config, folder, log } = options;
  const synchronous = config.SQLITE_SYNCHRONOUS;
  const metrics = new Metrics({ process: true });
  const running: RunningService[] = [];
  let bus: Bus | undefined;
  let gateway: RunningGateway | undefined;
  let internal: InternalServer | undefined;
  let stopping: Promise<void> | undefined;

  const stop = async () => {
    await gateway?.stop();
    await Promise.all(running.map((service) => service.stop()));
    await bus?.close();
    await internal?.close();
    folder.release();
  };
  try {
    const storing = storingNames.map((name) => `${name}.sqlite`);
    const installation = checkInstallation(folder, ['events.sqlite', ...storing]);
    await noteLostChanges(folder, log);
    const own = new InProcessBus({
      prefix: config.KITH_PREFIX,
      file: folder.file('events.sqlite'),
      log,
      durables,
    });
    bus = observedBus(own, { metrics, system: 'in_process' });
    const operationsAtOnce = config.OPERATIONS_AT_ONCE;
    const runtime = { bus, log, metrics, nodeEnv: config.NODE_ENV, operationsAtOnce };
    const isSilent = isCopy(readManifest(folder));
    // A copy is often started with the environment of the original platform, and must not change any data of the original. So
    // it keeps its files and its list of erasures in its own folder.
    const settings = withSecret(folder, isSilent ? keptInFolder(config) : config);
    const secrets = secretsOf(settings);
    const upstreams: Record<string, string> = {};
    for (const manifest of services) {
      const file = folder.file(`${manifest.name}.sqlite`);
      const store = manifest.stores && ({ kind: 'sqlite', file, synchronous } as const);
      // The gateway sends bytes to the service over HTTP, as in the distributed form. The address is reachable only on this machine
      // (docs/adr/0045).
      const http = manifest.streams && { host: '127.0.0.1', port: 0, secrets };
      const service = await startByManifest(manifest, runtime, {
        config: settings,
        store,
        folder: folder.path,
        isSilent,
        http,
      });
      running.push(service);
      if (service.httpUrl) upstreams[service.name] = service.httpUrl;
    }
    installation.stamp();
    gateway = await startGateway({
      runtime,
      config: settings,
      limiterStore: { kind: 'memory' },
      upstreams,
      filesFolder: filesFolder(folder.path, settings.STORAGE_URL),
    });
    const parts = [gateway, ...running];
    const notReady = async () => (await Promise.all(parts.map(missingIn))).flat();
    internal = await serveInternally(
      { host: config.INTERNAL_HOST, port: config.INTERNAL_PORT, metrics, notReady },
      options,
    );
    const platform: EmbeddedPlatform = {
      url: gateway.url,
      adminUrl: gateway.adminUrl,
      bus,
      internalUrls: [`http://${hostOfUrl(config.INTERNAL_HOST)}:${internal.port}`],
      notReady,
      drain: gateway.drain,
      stop() {
        stopping ??= stop();
        return stopping;
      },
      [Symbol.asyncDispose]: () => platform.stop(),
    };
    return platform;
  } catch (error) {
    await stop().catch(() => undefined);
    if (error instanceof StartError) throw error;
    throw new StartError(`Kith could not start: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * What a service or the gateway lacks before it is ready. Each text begins with the name of this service or of the gateway,
 * because a single `/readyz` answers for all of them.
 */
async function missingIn(part: RunningService): Promise<string[]> {
  return (await part.notReady()).map((what) => `${part.name}: ${what}`);
}

async function serveInternally(
  at: Parameters<typeof startInternalServer>[0],
  { internalPortMayMove = false }: EmbeddedOptions,
): Promise<InternalServer> {
  try {
    return await startInternalServer(at);
  } catch (error) {
    const isTaken = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE';
    if (!isTaken || !internalPortMayMove) throw error;
    return startInternalServer({ ...at, port: 0 });
  }
}
