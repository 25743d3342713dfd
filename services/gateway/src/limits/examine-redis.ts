/** The findings about a Redis server. */
export interface ExaminedRedis {
  version: string;
  /** How far the server's clock is ahead of this machine's, in ms. Undefined if the Redis user may not ask for the time. */
  aheadMs: number | undefined;
  /** Whether the URL contains credentials for the server. */
  asksWho: boolean;
}

const patienceMs = 3_000;

/**
 * The key on which {@link examineRedis} runs a script. It has the prefix of the keys of limits, but nothing is ever counted
 * under it.
 */
export const examinedKey = (prefix: string) => `${prefix}:limit:doctor`;

/**
 * Examines the Redis server in which limits are counted. Changes nothing there. Rejects if Redis cannot be reached, or if the
 * Redis user in the URL may not run a script on {@link examinedKey}.
 */
export async function examineRedis(url: string, prefix: string): Promise<ExaminedRedis> {
  // The driver is loaded only here, because the embedded form does not need it (docs/adr/0043).
  const { Redis } = await import('ioredis');
  const times = { connectTimeout: patienceMs, commandTimeout: patienceMs, maxRetriesPerRequest: 0 };
  const redis = new Redis(url, {
    ...times,
    lazyConnect: true,
    retryStrategy: () => null,
    enableReadyCheck: false,
  });
  let reason: Error | undefined;
  redis.on('error', (error: Error) => {
    reason = error;
  });
  const allowed = <T>(asked: Promise<T>) =>
    asked.catch((error: Error) => {
      if (/NOPERM/.test(error.message)) return undefined;
      throw error;
    });
  try {
    await redis.connect();
    await redis.eval("return redis.call('PTTL', KEYS[1])", 1, examinedKey(prefix));
    const asked = Date.now();
    const time = await allowed(redis.time());
    const seconds = time && Number(time[0]) + Number(time[1]) / 1e6;
    const aheadMs = seconds === undefined ? undefined : seconds * 1000 - (asked + Date.now()) / 2;
    const info = await allowed(redis.info('server'));
    const version = /redis_version:(\S+)/.exec(info ?? '')?.[1] ?? '';
    const named = new URL(url);
    return { version, aheadMs, asksWho: named.username !== '' || named.password !== '' };
  } catch (error) {
    throw reason ?? error;
  } finally {
    redis.disconnect();
  }
}
