import { setTimeout as wait } from 'node:timers/promises';
import { hostOfUrl } from '@kith/base';
import { StartError } from '@kith/base/config';
import { watchAbsence } from '@kith/bus';
import { isStreamed, type OperationSpec, operations, serviceOf } from '@kith/contracts';
import { drainMsOf, PermittedBus, type RunningService, type ServiceRuntime, secretsOf } from '@kith/service';
import { Callers } from './auth/caller.ts';
import { KeyUses } from './auth/key-uses.ts';
import { Keys } from './auth/keys.ts';
import { Revocations } from './auth/revocations.ts';
import { ServerKeys } from './auth/server-keys.ts';
import { TokenVerifier } from './auth/token.ts';
import type { GatewayConfig } from './config.ts';
import { createEntry, type EntryParts, type Serves } from './entry.ts';
import { Exports, type ExportTimes } from './exports/exports.ts';
import { listOperations } from './forward/list-operations.ts';
import { type HttpServer, type HttpTimeouts, startHttpServer } from './http/http-server.ts';
import { Clients } from './limits/client-ip.ts';
import { type LimiterStoreConfig, openLimiterStore } from './limits/limiter-store.ts';
import { OpenConnections } from './limits/open-connections.ts';
import { RateLimits } from './limits/rate-limit.ts';
import { measureTables } from './measure-tables.ts';
import { RouteTable } from './routes/routes.ts';
import type { StreamTimes } from './streams/stream.ts';
import { Streams } from './streams/streams.ts';
import { ApiKeys } from './tables/api-keys.ts';
import { ProjectSettings } from './tables/project-settings.ts';
import { Upstreams, type UpstreamTimes } from './upstreams/upstreams.ts';
import { gatewayUses } from './uses.ts';

export interface GatewayOptions {
  runtime: ServiceRuntime;
  config: GatewayConfig;
  limiterStore: LimiterStoreConfig;
  timeouts?: Partial<HttpTimeouts>;
  streamTimes?: Partial<StreamTimes>;
  exportTimes?: Partial<ExportTimes>;
  upstreamTimes?: Partial<UpstreamTimes>;
  /** The addresses of services that receive or send files. They replace the configured addresses of the same services. */
  upstreams?: Readonly<Record<string, string>>;
  /** The folder of files. It replaces the configured folder. */
  filesFolder?: string | undefined;
  /** The clock by which tokens expire: returns ms since 1970. By default, the clock of the machine. */
  now?: () => number;
}

/** The minimum length of the operator's token in production (spec#operators-token-length). */
const shortestToken = 32;

/** A gateway that listens at `url`. */
export interface RunningGateway extends RunningService {
  readonly url: string;
  readonly port: number;
  /** The address of the operators' endpoints, if they have a separate port. */
  readonly adminUrl?: string;
  drain(): Promise<void>;
}

/** Starts the HTTP server in front of the services. The services and Redis need not be running yet. */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { runtime, config, limiterStore, timeouts } = options;
  const { metrics } = runtime;
  const bus = new PermittedBus(runtime.bus, gatewayUses);
  checkOperatorToken(config.OPERATOR_TOKEN, runtime.nodeEnv);
  watchAbsence();
  const log = runtime.log.child({ service: 'gateway' });
  const isDevelopment = runtime.nodeEnv === 'development';
  const served = servedOperations(runtime.nodeEnv, config.ALLOW_TEST_TOKENS);
  const routes = new RouteTable([...served, ...listOperations]);
  const store = await openLimiterStore(limiterStore, { log, metrics });
  const opening = Keys.open({ bus, log });
  const onRevokedKey = () => void opening.then((opened) => opened.renew());
  const [keys, revocations, projects, apiKeys] = await Promise.all([
    opening,
    Revocations.open({ bus, log, onRevokedKey }),
    ProjectSettings.open({ bus, log }),
    ApiKeys.open({ bus, log }),
  ]);
  const uses = new KeyUses({ bus, log });
  const known = { keys: apiKeys, uses };
  const unmeasure = measureTables(metrics, { revocations, projects, apiKeys });
  const limits = new RateLimits({
    operations: served,
    store,
    prefix: bus.prefix,
    scale: config.RATE_LIMIT_SCALE,
    overrides: config.RATE_LIMITS,
    projects,
    saysSetting: isDevelopment,
  });
  const tokens = new TokenVerifier({
    keys,
    revocations,
    issuer: config.TOKEN_ISSUER,
    audience: config.TOKEN_AUDIENCE,
    now: options.now,
  });
  const streams = new Streams({
    bus,
    log,
    metrics,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    times: options.streamTimes,
  });
  const exports = new Exports({
    bus,
    log,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    times: options.exportTimes,
  });
  const urls = { ...config.UPSTREAMS, ...options.upstreams };
  const lacksAddress = (one: OperationSpec) => isStreamed(one) && !urls[serviceOf(one)];
  const unreachable = new Set(served.filter(lacksAddress).map(serviceOf));
  if (unreachable.size > 0)
    log.warn({ services: [...unreachable] }, 'UPSTREAMS has no address: requests about files get 503');
  const upstreams = new Upstreams({
    urls,
    log,
    metrics,
    secrets: config.KITH_SECRET ? secretsOf({ ...config, KITH_SECRET: config.KITH_SECRET }) : undefined,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    folder: options.filesFolder ?? config.STORAGE_FOLDER,
    times: { idle: config.UPLOAD_IDLE_MS, ...options.upstreamTimes },
  });
  const entryParts = {
    routes,
    clients: new Clients(config.TRUST_PROXY_HOPS),
    streams,
    exports,
    upstreams,
    limits,
    projects,
    callers: new Callers({
      tokens,
      operatorToken: config.OPERATOR_TOKEN,
      known,
    }),
    serverKeys: new ServerKeys({ known, bus, timeoutMs: config.REQUEST_TIMEOUT_MS }),
    bus,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    log,
    metrics,
    corsOrigins: config.CORS_ORIGINS,
    shown: {
      hasFront: isDevelopment && (config.API_REFERENCE ?? 'all') === 'all',
      reference: config.API_REFERENCE ?? (runtime.nodeEnv === 'production' ? 'errors' : 'all'),
      security: { contacts: config.SECURITY_CONTACT, policy: config.SECURITY_POLICY },
    },
  } satisfies Omit<EntryParts, 'serves'>;
  const release = async () => {
    await streams.stop();
    await keys.stop();
    await revocations.stop();
    await projects.stop();
    await apiKeys.stop();
    await uses.stop();
    store.close();
    upstreams.stop();
    unmeasure();
  };
  const { ADMIN_PORT: adminPort, PORT: port } = config;
  const listen = (serves: Serves, at: { port: number; setting: 'PORT' | 'ADMIN_PORT' }) => {
    const connections = new OpenConnections(config.MAX_CONNECTIONS_PER_ADDRESS);
    return startHttpServer({
      ...at,
      handler: createEntry({ ...entryParts, serves }),
      host: config.HOST,
      log,
      metrics,
      timeouts,
      caps: {
        all: config.MAX_CONNECTIONS,
        admits: config.TRUST_PROXY_HOPS === 0 ? (socket) => connections.admit(socket) : undefined,
      },
    });
  };
  const servers: HttpServer[] = [];
  try {
    servers.push(await listen(adminPort === undefined ? 'all' : 'others', { port, setting: 'PORT' }));
    if (adminPort !== undefined)
      servers.push(await listen('admin', { port: adminPort, setting: 'ADMIN_PORT' }));
  } catch (error) {
    await Promise.all(servers.map((server) => server.stop()));
    await release();
    throw error;
  }
  const [http, admin] = servers as [HttpServer, HttpServer | undefined];
  const urlOf = (server: HttpServer) => `http://${hostOfUrl(config.HOST)}:${server.port}`;
  const url = urlOf(http);
  const adminUrl = admin && urlOf(admin);
  log.info({ url, adminUrl }, 'gateway started');

  const drainMs = drainMsOf(config, runtime.nodeEnv);
  let isDraining = false;
  let stopping: Promise<void> | undefined;
  const gateway: RunningGateway = {
    name: 'gateway',
    url,
    port: http.port,
    ...(adminUrl && { adminUrl }),
    async notReady() {
      const missing: string[] = [];
      if (isDraining || stopping) missing.push('stopping');
      if (!bus.isConnected()) missing.push('bus');
      if (!keys.current) missing.push('keys');
      if (!revocations.isLoaded) missing.push('revocations');
      if (!projects.isLoaded) missing.push('project-settings');
      if (!apiKeys.isLoaded) missing.push('api-keys');
      return missing;
    },
    async drain() {
      isDraining = true;
      for (const server of servers) server.drain();
      if (drainMs > 0) await wait(drainMs, undefined, { ref: false });
    },
    stop() {
      // Ends the streams first, because the servers wait for every request that is still being answered, and streams do not end
      // by themselves.
      streams.end();
      stopping ??= Promise.all(servers.map((server) => server.stop()))
        .then(release)
        .then(() => log.info('gateway stopped'));
      return stopping;
    },
    [Symbol.asyncDispose]: () => gateway.stop(),
  };
  return gateway;
}

/**
 * Throws `StartError` in production if the token is so short that somebody could guess it. If there is no token, only operator
 * keys give access to the operators' endpoints.
 */
function checkOperatorToken(token: string | undefined, nodeEnv: ServiceRuntime['nodeEnv']): void {
  if (nodeEnv !== 'production' || !token || token.length >= shortestToken) return;
  throw new StartError(`OPERATOR_TOKEN: at least ${shortestToken} characters are needed in production.`);
}

/**
 * The operations that are routed. In production, operations for tests are routed only if they are allowed. A request for an
 * operation that is not routed gets the same answer as a request for an unknown address.
 */
function servedOperations(
  nodeEnv: ServiceRuntime['nodeEnv'],
  allowTestTokens: boolean,
): readonly OperationSpec[] {
  if (nodeEnv !== 'production' || allowTestTokens) return operations;
  return operations.filter(({ testOnly }) => !testOnly);
}
