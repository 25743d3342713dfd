import { availableEngines, startEngines, uniquePrefix, waitFor } from '@kith/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisCounts } from '../src/redis-counts.ts';

describe.runIf(availableEngines().includes('containers'))('counts in Redis', () => {
  let engines: Awaited<ReturnType<typeof startEngines>>;
  let redis: Redis;
  let counts: RedisCounts;
  const prefix = uniquePrefix();
  beforeAll(async () => {
    engines = await startEngines();
    redis = new Redis(engines.redisUrl);
    await redis.ping();
    counts = new RedisCounts(redis, { patienceMs: 5_000 });
  });
  afterAll(async () => {
    redis.disconnect();
    await engines[Symbol.asyncDispose]();
  });

  it('tells each of those that come in one turn its own number', async () => {
    const [one, other] = [`${prefix}:one`, `${prefix}:other`];
    const told = await Promise.all([one, other, one, one].map((key) => counts.add(key, 60)));
    expect(told.map(({ used }) => used)).toEqual([1, 1, 2, 3]);
    expect((await counts.add(one, 60)).used).toBe(4);
  });

  it('makes one trip of a turn, however many keys it has', async () => {
    const key = `${prefix}:many`;
    const monitor = await redis.duplicate().monitor();
    const scripts: number[] = [];
    monitor.on('monitor', (_time: string, words: string[]) => {
      const ours = words.filter((word) => word.startsWith(key));
      if (words[0]?.toLowerCase() === 'evalsha' && ours.length > 0) scripts.push(ours.length);
    });
    await Promise.all(Array.from({ length: 50 }, (_, at) => counts.add(`${key}:${at}`, 60)));
    await waitFor(() => scripts.length > 0);
    expect(scripts).toEqual([50]);
    monitor.disconnect();
  });

  it('begins a window with the first of a key, and does not prolong it', async () => {
    const key = `${prefix}:window`;
    const first = await counts.add(key, 60);
    expect(first.msLeft).toBe(60_000);
    await redis.pexpire(key, 1_000);
    const second = await counts.add(key, 60);
    expect(second.used).toBe(2);
    expect(second.msLeft).toBeLessThanOrEqual(1_000);
  });

  it('gives an end to a key that has none', async () => {
    const key = `${prefix}:endless`;
    await redis.set(key, 7);
    expect(await counts.add(key, 30)).toEqual({ used: 8, msLeft: 30_000 });
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  it('rejects at once without a connection', async () => {
    const away = new Redis(engines.redisUrl, { lazyConnect: true });
    const waiting = new RedisCounts(away, { patienceMs: 5_000 }).add(`${prefix}:x`, 60);
    await expect(waiting).rejects.toThrow('Redis is not connected.');
    away.disconnect();
  });
});
