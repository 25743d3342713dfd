import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { availableEngines, startEngines, uniquePrefix, waitFor } from '@kith/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisCounts } from '../src/limits/redis-counts.ts';

describe.runIf(availableEngines().includes('containers'))('counts in Redis', () => {
  let engines: Awaited<ReturnType<typeof startEngines>>;
  let redis: Redis;
  let counts: RedisCounts;
  const prefix = uniquePrefix();
  const add = (key: string, windowSeconds: number) => counts.count({ key, windowSeconds, ceiling: null });
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

  it('gives each request of one turn of the event loop its own number', async () => {
    const [one, other] = [`${prefix}:one`, `${prefix}:other`];
    const told = await Promise.all([one, other, one, one].map((key) => add(key, 60)));
    expect(told.map(({ used }) => used)).toEqual([1, 1, 2, 3]);
    expect((await add(one, 60)).used).toBe(4);
  });

  it('makes one round trip for one turn of the event loop, no matter how many keys it has', async () => {
    const key = `${prefix}:many`;
    const monitor = await redis.duplicate().monitor();
    const scripts: number[] = [];
    monitor.on('monitor', (_time: string, words: string[]) => {
      const ours = words.filter((word) => word.startsWith(key));
      if (words[0]?.toLowerCase() === 'evalsha' && ours.length > 0) scripts.push(ours.length);
    });
    await Promise.all(Array.from({ length: 50 }, (_, at) => add(`${key}:${at}`, 60)));
    await waitFor(() => scripts.length > 0);
    // Each of the 50 keys is sent together with the key of its ceiling, so the one script has 100 keys.
    expect(scripts).toEqual([100]);
    monitor.disconnect();
  });

  it('begins a window with the first request of a key, and does not prolong the window', async () => {
    const key = `${prefix}:window`;
    const first = await add(key, 60);
    expect(first.msLeft).toBe(60_000);
    await redis.pexpire(key, 30_000);
    const second = await add(key, 60);
    expect(second.used).toBe(2);
    expect(second.msLeft).toBeLessThanOrEqual(30_000);
  });

  it('counts the ceiling first, even for requests of one turn; a request over the ceiling makes no key', async () => {
    const ceiling = { key: `${prefix}:ceiling`, max: 4, windowSeconds: 20 };
    const keys = ['a', 'b', 'a', 'c', 'c', 'd'].map((name) => `${prefix}:pair-${name}`);
    const told = await Promise.all(keys.map((key) => counts.count({ key, windowSeconds: 60, ceiling })));
    expect(told).toEqual([
      { isOverCeiling: false, used: 1, msLeft: 60_000 },
      { isOverCeiling: false, used: 1, msLeft: 60_000 },
      { isOverCeiling: false, used: 2, msLeft: 60_000 },
      { isOverCeiling: false, used: 1, msLeft: 60_000 },
      { isOverCeiling: true, used: 0, msLeft: expect.closeTo(20_000, -3) },
      { isOverCeiling: true, used: 0, msLeft: expect.closeTo(20_000, -3) },
    ]);
    await redis.pexpire(ceiling.key, 7_000);
    const later = await counts.count({ key: `${prefix}:pair-e`, windowSeconds: 60, ceiling });
    expect(later.isOverCeiling).toBe(true);
    expect(later.msLeft).toBeLessThanOrEqual(7_000);
    expect((await redis.keys(`${prefix}:pair-*`)).sort()).toEqual(
      ['a', 'b', 'c'].map((name) => `${prefix}:pair-${name}`),
    );
    expect(await redis.get(ceiling.key)).toBe('7');
    const raised = { key: `${prefix}:pair-e`, windowSeconds: 60, ceiling: { ...ceiling, max: 8 } };
    expect((await counts.count(raised)).used).toBe(1);
  });

  it('sets an expiry on a key that has none', async () => {
    const key = `${prefix}:endless`;
    await redis.set(key, 7);
    expect(await add(key, 30)).toEqual({ isOverCeiling: false, used: 8, msLeft: 30_000 });
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  it('if Redis is behind, sends no further script until Redis has answered', async () => {
    const key = `${prefix}:behind`;
    const url = new URL(engines.redisUrl);
    const answers: Socket[] = [];
    const { port, hostname } = url;
    const proxy = createServer((inside) => {
      const outside = connect(Number(port || 6379), hostname);
      inside.on('data', (chunk) => outside.write(chunk)).on('close', () => outside.destroy());
      outside.on('data', (chunk) => inside.write(chunk));
      answers.push(outside);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const slow = new Redis(url.href);
    await slow.ping();
    const slowCounts = new RedisCounts(slow, { patienceMs: 500 });
    const count = () => slowCounts.count({ key, windowSeconds: 60, ceiling: null });
    const { used } = await waitFor(count, { what: 'a count' });
    for (const one of answers) one.pause();
    await expect(count()).rejects.toThrow('has not answered');
    for (let nth = 0; nth < 20; nth++) await expect(count()).rejects.toThrow('Redis is behind.');
    expect(await redis.get(key)).toBe(String(used + 1));
    for (const one of answers) one.resume();
    const next = await waitFor(count, { what: 'counts in Redis again' });
    expect(next.used).toBeGreaterThan(used + 1);
    slow.disconnect();
    proxy.close();
  });

  it('rejects immediately without a connection', async () => {
    const away = new Redis(engines.redisUrl, { lazyConnect: true });
    const waiting = new RedisCounts(away, { patienceMs: 5_000 }).count({
      key: `${prefix}:x`,
      windowSeconds: 60,
      ceiling: null,
    });
    await expect(waiting).rejects.toThrow('Redis is not connected.');
    away.disconnect();
  });
});
