import { createLogger, Metrics, readConfig, startInternalServer } from '@kith/base';
import { observedBus } from '@kith/bus';
import type { z } from 'zod';
import {
  drainMsOf,
  type httpConfig,
  type serviceConfig,
  storeOf,
  type storingServiceConfig,
} from '../config/common.ts';
import { refusePlainEngines } from '../config/plain-engines.ts';
import { secretsOf } from '../config/secrets-of.ts';
import { type ServiceManifest, startByManifest } from '../manifest/manifest.ts';
import type { RunningService, ServiceRuntime } from '../manifest/runtime.ts';
import { runProcess } from './run-process.ts';

/** Runs a service as a process of its own. Only for `main.ts` files. */
export function runServiceMain(manifest: ServiceManifest): Promise<void> {
  const { name, config: schema, stores } = manifest;
  return runOnBus(name, schema, (runtime, config) => {
    const store = stores && storeOf(name, config as z.output<typeof storingServiceConfig>);
    const { HOST: host, NODE_ENV: nodeEnv } = config;
    const streaming = manifest.streams && (config as unknown as z.output<typeof httpConfig>);
    const http = streaming && {
      ...{ host, port: streaming.HTTP_PORT, secrets: secretsOf(streaming) },
      drainMs: drainMsOf(streaming, nodeEnv),
    };
    return startByManifest(manifest, runtime, { config, store, http });
  });
}

/** Runs a process on the bus, with config, log, bus, internal port and signals. Only for `main.ts` files. */
export function runOnBus<Schema extends typeof serviceConfig>(
  name: string,
  schema: Schema,
  start: (runtime: ServiceRuntime, config: z.output<Schema>) => Promise<RunningService & { url?: string }>,
): Promise<void> {
  const startOnBus = async (env: NodeJS.ProcessEnv) => {
    const config = readConfig(schema, env) as z.output<typeof serviceConfig>;
    refusePlainEngines(config);
    const log = createLogger({ name, level: config.LOG_LEVEL });
    const metrics = new Metrics({ process: true });
    let service: Awaited<ReturnType<typeof start>> | undefined;
    // The internal server starts first, so that the process reports that it is alive during a long start, for example while
    // indexes are made.
    const internal = await startInternalServer({
      host: config.INTERNAL_HOST,
      port: config.INTERNAL_PORT,
      metrics,
      notReady: () => service?.notReady() ?? ['starting'],
    });
    const { NatsBus } = await import('@kith/bus/nats');
    const nats = await NatsBus.connect({
      url: config.NATS_URL,
      nkeySeed: config.NATS_NKEY,
      replicas: config.NATS_STREAM_REPLICAS,
      name,
      prefix: config.KITH_PREFIX,
      log,
    });
    const bus = observedBus(nats, { metrics, system: 'nats' });
    const operationsAtOnce = config.OPERATIONS_AT_ONCE;
    const runtime = { bus, log, metrics, nodeEnv: config.NODE_ENV, operationsAtOnce };
    const started = await start(runtime, config as z.output<Schema>);
    service = started;
    log.info({ internalPort: internal.port }, 'ready');
    return {
      log,
      ...(started.failed && { failed: started.failed }),
      ready: {
        internalPort: internal.port,
        ...(started.url ? { url: started.url } : {}),
        ...(started.httpUrl ? { httpUrl: started.httpUrl } : {}),
        ...(started.adminUrl ? { adminUrl: started.adminUrl } : {}),
      },
      ...(started.drain && { drain: started.drain }),
      async stop() {
        await started.stop();
        await bus.close();
        await internal.close();
      },
    };
  };
  // The start may take minutes. The next start can continue from whatever an interrupted start has left behind.
  return runProcess(name, startOnBus, { endsWhileStarting: true });
}
