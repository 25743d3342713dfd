import type { Logger, Metrics } from '@kith/service';
import { Redis } from 'ioredis';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { RedisCounts } from './redis-counts.ts';

interface Telemetry {
  log: Logger;
  metrics: Metrics;
}

/** `patienceMs` is how long a request may wait for Redis, `deadMs` after which silence its connection counts as dead. */
export type LimiterStoreConfig =
  | { kind: 'redis'; url: string; patienceMs?: number; deadMs?: number }
  | { kind: 'memory' };

/** How often a key was counted in its window, this time included, and when the window ends. */
export interface Count {
  used: number;
  msLeft: number;
}

export interface Counter {
  /** Counts once more; a first time begins a window of that length. Never rejects because of the store. */
  add(key: string, windowSeconds: number): Promise<Count>;
}

/** Where limits are counted: Redis, shared by any number of gateways, or this process. */
export interface LimiterStore {
  counter(keyPrefix: string): Counter;
  close(): void;
}

/** Opens the store. It does not need Redis to be there; if it is, it is used from the first request on. */
export async function openLimiterStore(
  config: LimiterStoreConfig,
  telemetry: Telemetry,
): Promise<LimiterStore> {
  return config.kind === 'redis' ? redisStore(config, telemetry) : memoryStore(telemetry.metrics);
}

/** The library only counts: the limit that a count is held against, and its window, are not known beforehand. */
const countOnly = { points: Number.MAX_SAFE_INTEGER, duration: 1 };

function memoryStore(metrics: Metrics): LimiterStore {
  const unmeasure = metrics.limiterStore.watch({ store: 'memory' }, () => 1);
  return {
    counter(keyPrefix) {
      const limiter = new RateLimiterMemory({ keyPrefix, ...countOnly });
      return { add: (key, windowSeconds) => take(limiter, key, windowSeconds) };
    },
    close: unmeasure,
  };
}

/**
 * Counts in Redis, and in this process's memory while Redis is away. A server that is down is not asked at all; one
 * that hangs costs a request `patienceMs` until its connection counts as dead, then nothing.
 */
async function redisStore(
  { url, patienceMs = 100, deadMs = 1_000 }: { url: string; patienceMs?: number; deadMs?: number },
  { log, metrics }: Telemetry,
): Promise<LimiterStore> {
  const redis = new Redis(url, {
    connectTimeout: 2_000,
    socketTimeout: deadMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // A count that was given up has been taken from memory; sent again it would count twice.
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    // After a failover the old primary is still there and refuses writes.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  let connectionError: Error | undefined;
  redis.on('error', (error: Error) => {
    connectionError = error;
  });
  await firstOutcome(redis, deadMs);

  const counts = new RedisCounts(redis, { patienceMs });
  let shared = true;
  const note = (now: boolean, failure?: unknown) => {
    if (now === shared) return;
    shared = now;
    if (now) log.info('limits are counted in Redis again');
    else log.warn({ err: failure, connection: connectionError?.message }, 'limits are counted in memory');
  };
  const isShared = () => Number(shared && redis.status === 'ready');
  const watched = [
    metrics.limiterStore.watch({ store: 'redis' }, isShared),
    metrics.limiterStore.watch({ store: 'memory' }, () => 1 - isShared()),
    metrics.limiterDegraded.watch({}, () => 1 - isShared()),
  ];
  return {
    counter(keyPrefix) {
      const insurance = new RateLimiterMemory({ keyPrefix, ...countOnly });
      return {
        async add(key, windowSeconds) {
          try {
            const count = await counts.add(`${keyPrefix}:${key}`, windowSeconds);
            note(true);
            return count;
          } catch (error) {
            metrics.limiterRedisErrors.inc();
            note(false, error);
            return take(insurance, key, windowSeconds);
          }
        },
      };
    },
    close() {
      for (const end of watched) end();
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

async function take(limiter: RateLimiterMemory, key: string, windowSeconds: number): Promise<Count> {
  const result = await limiter.consume(key, 1, { customDuration: windowSeconds });
  return { used: result.consumedPoints, msLeft: Math.max(result.msBeforeNext, 0) };
}
