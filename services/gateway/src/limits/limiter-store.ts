import type { Logger, Metrics } from '@kith/base';
import type { Redis } from 'ioredis';
import type { Count, Counting } from './count.ts';
import { MemoryCounts } from './memory-counts.ts';
import { RedisCounts } from './redis-counts.ts';

interface Telemetry {
  log: Logger;
  metrics: Metrics;
}

/** `patienceMs` is how long a request may wait for Redis. If Redis is silent for `deadMs`, its connection counts as dead. */
export type LimiterStoreConfig =
  | { kind: 'redis'; url: string; patienceMs?: number; deadMs?: number }
  | { kind: 'memory' };

/** The place where limits are counted: a Redis that any number of gateways share, or this process. */
export interface LimiterStore {
  /** Counts a request. The first request under a key begins a window for this key. Never rejects because of the store. */
  count(request: Counting): Count | Promise<Count>;
  close(): void;
}

/** Opens the store. Redis need not be reachable yet. If Redis is reachable, the first request already uses it. */
export async function openLimiterStore(
  config: LimiterStoreConfig,
  telemetry: Telemetry,
): Promise<LimiterStore> {
  return config.kind === 'redis' ? redisStore(config, telemetry) : memoryStore(telemetry.metrics);
}

function memoryStore(metrics: Metrics): LimiterStore {
  const unmeasure = metrics.limiterStore.watch({ store: 'memory' }, () => 1);
  const counts = new MemoryCounts();
  return {
    count: (request) => counts.count(request),
    close() {
      unmeasure();
      counts.close();
    },
  };
}

/**
 * Counts requests in Redis, and in this process's memory while Redis is away. If Redis is down, it is not asked at all. If
 * Redis hangs or is slow, requests wait `patienceMs` for it. After that, Redis gets no more requests until it has answered.
 */
async function redisStore(
  { url, patienceMs = 100, deadMs = 1_000 }: { url: string; patienceMs?: number; deadMs?: number },
  { log, metrics }: Telemetry,
): Promise<LimiterStore> {
  // The driver is loaded only here, because the embedded form does not need it (docs/adr/0043).
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    connectTimeout: 2_000,
    socketTimeout: deadMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // If Redis does not answer in time, the request is counted in memory instead. If the command were sent again later, the
    // request would be counted twice.
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    // After a failover, the old primary still runs but refuses writes. So on this error the driver connects again, to reach the
    // new primary.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  let connectionError: Error | undefined;
  redis.on('error', (error: Error) => {
    connectionError = error;
  });
  await firstOutcome(redis, deadMs);

  const counts = new RedisCounts(redis, { patienceMs });
  /** The key of the last request, if Redis could not count it. */
  let failed: string | undefined;
  const noteCounted = () => {
    if (failed !== undefined) log.info('limits are counted in Redis again');
    failed = undefined;
  };
  const noteFailure = (key: string, failure: unknown) => {
    if (failed === undefined)
      log.warn({ err: failure, connection: connectionError?.message }, 'limits are counted in memory');
    failed = key;
  };
  // After a failure, each reading of the gauges counts one request in Redis, under a key that no client has. Otherwise the
  // gauges would report the failure until the next request, even if Redis works again.
  const isShared = async () => {
    if (failed !== undefined) {
      const probe = { key: `${failed}:probe`, windowSeconds: 1, ceiling: null };
      await counts.count(probe).then(noteCounted, () => undefined);
    }
    return Number(failed === undefined && redis.status === 'ready');
  };
  const watched = [
    metrics.limiterStore.watch({ store: 'redis' }, isShared),
    metrics.limiterStore.watch({ store: 'memory' }, async () => 1 - (await isShared())),
    metrics.limiterDegraded.watch({}, async () => 1 - (await isShared()), 1),
  ];
  const insurance = new MemoryCounts();
  return {
    async count(request) {
      try {
        const count = await counts.count(request);
        noteCounted();
        return count;
      } catch (error) {
        metrics.limiterRedisErrors.inc();
        noteFailure(request.key, error);
        return insurance.count(request);
      }
    },
    close() {
      for (const end of watched) end();
      insurance.close();
      redis.disconnect();
    },
  };
}

/** Waits until the connection is ready, has failed once, or takes too long. */
function firstOutcome(redis: Redis, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, withinMs);
    redis.once('ready', done).once('close', done);
    function done() {
      clearTimeout(timer);
      redis.off('ready', done).off('close', done);
      resolve();
    }
  });
}
