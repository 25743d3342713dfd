import type { Logger } from '@kith/service';
import { Redis } from 'ioredis';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';

export type LimiterStoreConfig = { kind: 'redis'; url: string } | { kind: 'memory' };

/** How often a key was counted in its window, this time included, and when the window ends. */
export interface Count {
  used: number;
  msLeft: number;
}

export interface Counter {
  /** Counts once more. Never rejects because of the store. */
  add(key: string): Promise<Count>;
}

/** Where limits are counted: Redis, shared by any number of gateways, or this process. */
export interface LimiterStore {
  counter(options: { keyPrefix: string; max: number; windowSeconds: number }): Counter;
  close(): void;
}

/** Opens the store. It does not need Redis to be there; if it is, it is used from the first request on. */
export async function openLimiterStore(config: LimiterStoreConfig, log: Logger): Promise<LimiterStore> {
  return config.kind === 'redis' ? redisStore(config.url, log) : memoryStore();
}

function memoryStore(): LimiterStore {
  return {
    counter({ keyPrefix, max, windowSeconds }) {
      const limiter = new RateLimiterMemory({ keyPrefix, points: max, duration: windowSeconds });
      return { add: (key) => take(limiter, key) };
    },
    close() {},
  };
}

/** What a request may wait for Redis, in ms; then it is counted in memory. */
const patienceMs = 100;
/** After which silence the connection counts as dead, in ms. */
const deadMs = 1_000;

/**
 * Counts in Redis, and in this process's memory while Redis is away. A server that is down is not asked at all; one
 * that hangs costs a request `patienceMs` until its connection counts as dead, then nothing.
 */
async function redisStore(url: string, log: Logger): Promise<LimiterStore> {
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
  await firstOutcome(redis);

  let shared = true;
  const note = (now: boolean, failure?: unknown) => {
    if (now === shared) return;
    shared = now;
    if (now) log.info('limits are counted in Redis again');
    else log.warn({ err: failure, connection: connectionError?.message }, 'limits are counted in memory');
  };
  return {
    counter({ keyPrefix, max, windowSeconds }) {
      const settings = { keyPrefix, points: max, duration: windowSeconds };
      const limiter = new RateLimiterRedis({ ...settings, storeClient: redis, rejectIfRedisNotReady: true });
      // Not handed over as the library's `insuranceLimiter`: that tells nobody when it steps in, and knows no time.
      const insurance = new RateLimiterMemory(settings);
      return {
        async add(key) {
          try {
            const count = await within(take(limiter, key), patienceMs);
            note(true);
            return count;
          } catch (error) {
            note(false, error);
            return take(insurance, key);
          }
        },
      };
    },
    close: () => redis.disconnect(),
  };
}

/** Waits until the connection is ready, has failed once, or takes too long. */
function firstOutcome(redis: Redis): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, deadMs);
    redis.once('ready', done).once('close', done);
    function done() {
      clearTimeout(timer);
      redis.off('ready', done).off('close', done);
      resolve();
    }
  });
}

/**
 * Waits at most `ms`. What has arrived by then counts, also if this process was too busy to look: one turn of the loop
 * lies between the timer and giving up. ioredis' own `commandTimeout` would blame Redis for our pauses.
 */
function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`Redis has not answered in ${ms} ms.`));
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The library rejects with a plain result when a limit is passed, with an Error when something failed. */
async function take(limiter: RateLimiterAbstract, key: string): Promise<Count> {
  const result = await limiter.consume(key).catch((reason: unknown) => {
    if (reason instanceof RateLimiterRes) return reason;
    throw reason;
  });
  return { used: result.consumedPoints, msLeft: Math.max(result.msBeforeNext, 0) };
}
