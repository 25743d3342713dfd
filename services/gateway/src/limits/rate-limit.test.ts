import { ApiError, createLogger, Metrics, readConfig } from '@kith/base';
import { getUser, listConnections, type OperationSpec, operations, signIn } from '@kith/contracts';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { gatewayConfig } from '../config.ts';
import type { Settings } from '../tables/project-settings.ts';
import { limitKeyOf } from './client-ip.ts';
import { openLimiterStore } from './limiter-store.ts';
import { MemoryCounts } from './memory-counts.ts';
import { limitHeaders, RateLimits } from './rate-limit.ts';

const store = await openLimiterStore(
  { kind: 'memory' },
  { log: createLogger({ name: 'test', level: 'silent' }), metrics: new Metrics() },
);

// The clock stands still, so that the remaining time of a window is exact.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));

/** Projects with limits of their own, by id. */
function projectsWith(own: Record<string, Settings['limits']>) {
  return {
    of: (id: string | null): Settings => ({
      limits: own[id ?? ''] ?? {},
      webOrigins: [],
      publicProfiles: 'card',
      publicConnections: true,
    }),
  };
}

function limitsOf(options: Partial<ConstructorParameters<typeof RateLimits>[0]> = {}) {
  const given = { operations, store, prefix: 'test', scale: 1, overrides: {}, projects: projectsWith({}) };
  return new RateLimits({ ...given, ...options });
}

async function count(
  limits: RateLimits,
  operation: OperationSpec,
  projectId: string | null,
  clientIp = '192.0.2.1',
) {
  const headers: Record<string, string> = {};
  let code: string | undefined;
  try {
    await limits.count(headers, { operation, projectId, clientKey: limitKeyOf(clientIp) });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    code = error.code;
  }
  return { headers, code };
}

describe('the headers', () => {
  it('contain the policy, the requests that are left, and the end of the window', () => {
    const count = { isOverCeiling: false, used: 1, msLeft: 299_001 };
    const now = Date.UTC(2030, 0, 1);
    const limit = { max: 100, windowSeconds: 300 };
    const told = {
      'RateLimit-Policy': '"connections.list";q=100;w=300',
      RateLimit: '"connections.list";r=99;t=300',
      'X-RateLimit-Limit': '100',
      'X-RateLimit-Remaining': '99',
      'X-RateLimit-Reset': String(now / 1000 + 300),
    };
    expect(limitHeaders('connections.list', limit, count, now)).toEqual(told);
    const over = { isOverCeiling: true, used: 0, msLeft: 10_000 };
    expect(limitHeaders('connections.list', limit, over, now)).toEqual({
      ...told,
      RateLimit: '"connections.list";r=0;t=10',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(now / 1000 + 10),
    });
  });
});

describe('counting', () => {
  it('refuses requests over the limit, per operation, project and client', async () => {
    const limits = limitsOf();
    for (let left = 99; left >= 0; left--) {
      const { headers, code } = await count(limits, listConnections, 'p1');
      expect(code).toBeUndefined();
      expect(headers.RateLimit).toBe(`"connections.list";r=${left};t=300`);
      expect(headers['Retry-After']).toBeUndefined();
    }
    const refused = await count(limits, listConnections, 'p1');
    expect(refused.code).toBe('rate-limit/exceeded');
    expect(refused.headers).toMatchObject({
      'Retry-After': '300',
      RateLimit: '"connections.list";r=0;t=300',
      'X-RateLimit-Remaining': '0',
    });
    expect((await count(limits, listConnections, 'p2')).code).toBeUndefined();
    expect((await count(limits, listConnections, 'p1', '192.0.2.2')).code).toBeUndefined();
    expect((await count(limits, getUser, 'p1')).code).toBeUndefined();
  });

  it('names the setting that raises the limit, but only in development', async () => {
    const refusal = async (saysSetting: boolean) => {
      const limits = limitsOf({ scale: 0.01, saysSetting, store: new MemoryCounts() });
      await count(limits, listConnections, 'p');
      const of = { operation: listConnections, projectId: 'p', clientKey: limitKeyOf('192.0.2.1') };
      return limits.count({}, of).catch((error: ApiError) => error.message);
    };
    expect(await refusal(false)).toBe('Too many requests. Try again later.');
    const told = await refusal(true);
    expect(told).toContain('RATE_LIMIT_SCALE=10');
    const [, given = ''] = /RATE_LIMITS='([^']+)'/.exec(String(told)) ?? [];
    expect(readConfig(gatewayConfig, { RATE_LIMITS: given }).RATE_LIMITS).toEqual({
      [listConnections.name]: null,
    });
  });

  it('counts an IPv6 client by its /64', async () => {
    const limits = limitsOf({ scale: 0.01 });
    expect((await count(limits, listConnections, 'p', '2001:db8::1')).code).toBeUndefined();
    expect((await count(limits, listConnections, 'p', '2001:db8::2')).code).toBe('rate-limit/exceeded');
    expect((await count(limits, listConnections, 'p', '2001:db8:0:1::1')).code).toBeUndefined();
  });

  it.each([
    ['the operation needs a token', listConnections],
    ['the operation needs no token', signIn],
  ])('has a ceiling over all projects if %s', async (_, operation) => {
    const counts = new MemoryCounts();
    const limits = limitsOf({ scale: 0.1, store: counts });
    const max = (operation.limit?.max ?? 0) / 10;
    for (let n = 0; n < 20 * max; n++) {
      expect((await count(limits, operation, `made-up-${n}`)).code).toBeUndefined();
    }
    const keys = counts.size;
    for (const project of ['one-more', 'another']) {
      const refused = await count(limits, operation, project);
      expect(refused.code).toBe('rate-limit/exceeded');
      expect(refused.headers).toMatchObject({
        'RateLimit-Policy': `"${operation.name}";q=${max};w=300`,
        RateLimit: `"${operation.name}";r=0;t=300`,
        'Retry-After': '300',
      });
    }
    expect(counts.size).toBe(keys);
    expect((await count(limits, operation, 'one-more', '192.0.2.2')).code).toBeUndefined();
    counts.close();
  });

  it('applies a configuration that multiplies, turns off or replaces limits', async () => {
    const scaled = await count(limitsOf({ scale: 2.5 }), signIn, 'a');
    expect(scaled.headers['X-RateLimit-Limit']).toBe('50');
    const least = await count(limitsOf({ scale: 0.0001 }), signIn, 'b');
    expect(least.headers['X-RateLimit-Limit']).toBe('1');
    expect((await count(limitsOf({ scale: 0 }), signIn, 'c')).headers).toEqual({});
    const overrides = { 'identity.sign-in': { max: 7, windowSeconds: 60 }, 'identity.sign-up': null };
    const other = await count(limitsOf({ overrides }), signIn, 'd');
    expect(other.headers['RateLimit-Policy']).toBe('"identity.sign-in";q=7;w=60');
    const signUp = operations.find(({ name }) => name === 'identity.sign-up') as OperationSpec;
    expect((await count(limitsOf({ overrides }), signUp, 'e')).headers).toEqual({});
  });

  it('sets no headers for an operation without a limit', async () => {
    const jwks = operations.find(({ limit }) => limit === null) as OperationSpec;
    expect((await count(limitsOf(), jwks, null)).headers).toEqual({});
  });
});

describe('a project’s own limits', () => {
  const own = (max: number, windowSeconds = 300) => ({ 'identity.sign-in': { max, windowSeconds } });
  const many = async (limits: RateLimits, times: number, projectId: string, clientIp: string) => {
    const codes = new Set<string | undefined>();
    for (let n = 0; n < times; n++) codes.add((await count(limits, signIn, projectId, clientIp)).code);
    return [...codes];
  };

  it('are scaled, and replace the limits of the contract and the configuration, but only in this project', async () => {
    const overrides = { 'identity.sign-in': { max: 7, windowSeconds: 60 } };
    const projects = projectsWith({ a: own(4), b: { 'identity.sign-in': null } });
    const limits = limitsOf({ overrides, projects, scale: 0.5 });
    const of = async (id: string | null) =>
      (await count(limits, signIn, id, '192.0.2.20')).headers['RateLimit-Policy'];
    expect(await of('a')).toBe('"identity.sign-in";q=2;w=300');
    expect(await of('b')).toBeUndefined();
    for (const other of ['c', null]) expect(await of(other)).toBe('"identity.sign-in";q=4;w=60');
    expect(await many(limits, 1, 'a', '192.0.2.20')).toEqual([undefined]);
    expect(await many(limits, 1, 'a', '192.0.2.20')).toEqual(['rate-limit/exceeded']);
    expect((await count(limitsOf({ projects, scale: 0 }), signIn, 'a')).headers).toEqual({});
  });

  it('apply even if the operation has no other limit', async () => {
    const limits = limitsOf({
      overrides: { 'identity.sign-in': null },
      projects: projectsWith({ a: own(1) }),
    });
    expect(await many(limits, 1, 'a', '192.0.2.21')).toEqual([undefined]);
    expect(await many(limits, 1, 'a', '192.0.2.21')).toEqual(['rate-limit/exceeded']);
    expect((await count(limits, signIn, 'b', '192.0.2.21')).headers).toEqual({});
  });

  it('apply immediately to requests that were counted before; if the window gets another length, counting begins again', async () => {
    const set: Record<string, Settings['limits']> = {};
    const limits = limitsOf({ projects: projectsWith(set) });
    expect(await many(limits, 10, 'running', '192.0.2.22')).toEqual([undefined]);
    set.running = own(5);
    const lowered = await count(limits, signIn, 'running', '192.0.2.22');
    expect(lowered.code).toBe('rate-limit/exceeded');
    expect(lowered.headers['RateLimit-Policy']).toBe('"identity.sign-in";q=5;w=300');
    set.running = own(15);
    const raised = await count(limits, signIn, 'running', '192.0.2.22');
    expect(raised.code).toBeUndefined();
    expect(raised.headers.RateLimit).toBe('"identity.sign-in";r=3;t=300');
    set.running = own(15, 60);
    const shorter = await count(limits, signIn, 'running', '192.0.2.22');
    expect(shorter.headers.RateLimit).toBe('"identity.sign-in";r=14;t=60');
  });

  it('are not lowered by a lower ceiling, and their requests do not count towards the ceiling', async () => {
    const projects = projectsWith({
      number: own(1_000),
      slowly: own(1_000, 7 * 24 * 3600),
      rate: own(20, 10),
      none: { 'identity.sign-in': null },
    });
    const limits = limitsOf({ projects });
    const client = '192.0.2.23';
    expect(await many(limits, 500, 'number', client)).toEqual([undefined]);
    expect(await many(limits, 500, 'slowly', client)).toEqual([undefined]);
    expect(await many(limits, 500, 'none', client)).toEqual([undefined]);
    expect(await many(limits, 20, 'rate', client)).toEqual([undefined]);
    for (let n = 0; n < 20 * 20; n++) {
      expect((await count(limits, signIn, `made-up-${n}`, client)).code).toBeUndefined();
    }
    expect(await many(limits, 1, 'one-more', client)).toEqual(['rate-limit/exceeded']);
    expect(await many(limits, 1, 'number', client)).toEqual([undefined]);
  });

  it('allow no requests over the ceiling if they are lower than the usual limits', async () => {
    const set: Record<string, Settings['limits']> = {};
    for (let n = 0; n < 41; n++) set[`lowered-${n}`] = own(10);
    const limits = limitsOf({ projects: projectsWith(set) });
    const client = '192.0.2.24';
    for (let n = 0; n < 40; n++) expect(await many(limits, 10, `lowered-${n}`, client)).toEqual([undefined]);
    expect(await many(limits, 1, 'lowered-40', client)).toEqual(['rate-limit/exceeded']);
  });
});
