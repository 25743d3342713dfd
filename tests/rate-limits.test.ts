// Starts at most 4 platforms and 15 processes.
import { handlerEngines, startPlatform } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { expectCounted } from './support/expect-counted.ts';
import { http } from './support/http.ts';
import { startSecondGateway } from './support/second-gateway.ts';

const exceeded = { error: 'Too many requests. Try again later.', code: 'rate-limit/exceeded' };

describe.each(handlerEngines())('rate limits (%s)', (engine) => {
  it('exactly 100 of 101 requests of one client are accepted, over any gateway', async () => {
    await using platform = await startPlatform({ engine, env: { RATE_LIMIT_SCALE: '1' } });
    await using second = engine === 'containers' ? await startSecondGateway(platform) : undefined;
    const urls = [platform.url, second?.url ?? platform.url];
    await expectCounted([...platform.internalUrls, ...(second ? [second.internalUrl] : [])], async () => {
      const { id } = await platform.createProject();
      const other = await platform.createProject('Other');
      const path = `/v7/${id}/connections`;
      const ask = (index: number) =>
        http(urls[index % 2] ?? platform.url, {
          path,
          // A forged header changes nothing, because no proxy is configured.
          headers: { 'x-forwarded-for': `203.0.113.${index}` },
        });
      const before = Date.now();
      const answers = await Promise.all(Array.from({ length: 101 }, (_, index) => ask(index)));
      const passed = answers.filter(({ status }) => status === 401);
      const [over, ...more] = answers.filter(({ status }) => status === 429);
      expect([passed.length, more.length]).toEqual([100, 0]);
      expect(over?.json()).toEqual(exceeded);
      expect(over?.headers).toMatchObject({
        'content-type': 'application/json',
        'ratelimit-policy': '"connections.list";q=100;w=300',
        ratelimit: expect.stringMatching(/^"connections\.list";r=0;t=\d+$/),
        'x-ratelimit-limit': '100',
        'x-ratelimit-remaining': '0',
      });
      const wait = Number(over?.headers['retry-after']);
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(300);
      const reset = Number(over?.headers['x-ratelimit-reset']);
      expect(reset - wait).toBeGreaterThanOrEqual(Math.floor(before / 1000) - 1);
      expect(reset - wait).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000) + 1);
      const remaining = passed
        .map(({ headers }) => Number(headers['x-ratelimit-remaining']))
        .sort((a, b) => a - b);
      expect(remaining).toEqual(Array.from({ length: 100 }, (_, index) => index));

      // All spellings of an endpoint's address share a counter. But another client IP, another project and another operation
      // each have a counter of their own.
      expect((await http(platform.url, { path: `/api/v6/${id.toUpperCase()}/v7/connections/` })).status).toBe(
        429,
      );
      expect((await http(platform.url, { path, from: '127.0.0.2' })).status).toBe(401);
      expect((await http(platform.url, { path: `/v7/${other.id}/connections` })).status).toBe(401);
      expect((await http(platform.url, { path: `/v7/${id}/collections/root` })).status).toBe(401);
    });
  });

  it('requests are counted by the client address that a configured, trusted proxy sends', async () => {
    await using platform = await startPlatform({
      engine,
      env: {
        RATE_LIMITS: '{"connections.list":{"max":1,"windowSeconds":60}}',
        RATE_LIMIT_SCALE: '1',
        TRUST_PROXY_HOPS: '1',
      },
    });
    await expectCounted(platform.internalUrls, async () => {
      const { id } = await platform.createProject();
      const ask = (forwarded: string) =>
        http(platform.url, { path: `/${id}/connections`, headers: { 'x-forwarded-for': forwarded } });
      expect((await ask('203.0.113.1')).status).toBe(401);
      expect((await ask('203.0.113.1')).status).toBe(429);
      // Only the last entry of the header comes from the proxy. The client can have sent the earlier entries.
      expect((await ask('198.51.100.9, 203.0.113.1')).status).toBe(429);
      expect((await ask('203.0.113.2')).status).toBe(401);
      // An IPv6 client is counted by its /64 network.
      expect((await ask('2001:db8:1:2::1')).status).toBe(401);
      expect((await ask('2001:db8:1:2:ffff::2')).status).toBe(429);
    });
  });
});
