import { randomUUID } from 'node:crypto';
import { hashApiKey, makeApiKey } from '@kith/base';
import { listConnections, signIn } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  expectError,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
  type TestIssuer,
} from './harness.ts';

describe.each(handlerEngines())('limits on %s', (engine) => {
  let test: TestGateway;
  /**
   * The ports of the gateways. On real engines, two gateways share their limits. On the embedded engine, there is only one
   * gateway.
   */
  let ports: number[];
  let token: string;
  let issuer: TestIssuer;
  const project = randomUUID();
  beforeAll(async () => {
    test = await startTestGateway(engine);
    issuer = await serveIssuer(test.bus);
    token = await issuer.token({ projectId: project });
    await serveEcho(test.bus, listConnections);
    await serveEcho(test.bus, signIn);
    ports = [test.gateway.port];
    if (engine === 'containers') ports.push((await test.another()).port);
  });
  afterAll(() => test[Symbol.asyncDispose]());

  const forms = ['', '/v7', '/api/v6'];
  let turn = 0;
  const list = (
    options: { project?: string; localAddress?: string; headers?: Record<string, string> } = {},
  ) => {
    const { project: at = project, localAddress, headers } = options;
    turn++;
    return send(ports[turn % ports.length]!, {
      path: `${forms[turn % forms.length]}/${turn % 2 ? at.toUpperCase() : at}/connections`,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(localAddress ? { localAddress } : {}),
    });
  };

  function expectHeaders(answer: Answer, remaining: number): void {
    const { headers } = answer;
    const seconds = Number(/t=(\d+)$/.exec(String(headers.ratelimit))?.[1]);
    expect(headers['ratelimit-policy']).toBe('"connections.list";q=100;w=300');
    expect(headers.ratelimit).toBe(`"connections.list";r=${remaining};t=${seconds}`);
    expect(seconds).toBeGreaterThan(200);
    expect(seconds).toBeLessThanOrEqual(300);
    expect(headers['x-ratelimit-limit']).toBe('100');
    expect(headers['x-ratelimit-remaining']).toBe(String(remaining));
    const reset = Number(headers['x-ratelimit-reset']);
    expect(Math.abs(reset - (Date.now() / 1000 + seconds))).toBeLessThan(30);
  }

  it('counts all requests of a client together: at all gateways, in all address forms, and with forged headers', async () => {
    for (let left = 99; left >= 0; left--) {
      const answer = await list({ headers: { 'x-forwarded-for': `203.0.113.${left}` } });
      expect(answer.status).toBe(200);
      expectHeaders(answer, left);
    }
    const refused = await list();
    expectError(refused, 'rate-limit/exceeded');
    expectHeaders(refused, 0);
    expect(refused.headers['retry-after']).toBe(/t=(\d+)/.exec(String(refused.headers.ratelimit))?.[1]);
  });

  it('counts a server key separately, but only in the key’s own project', async () => {
    const sent = makeApiKey('server');
    issuer.apiKeys = [
      { hash: hashApiKey(sent), key: { kind: 'server', id: randomUUID(), projectId: project } },
    ];
    const gateway = await test.another();
    await waitFor(async () => (await gateway.notReady()).length === 0, { what: 'readiness' });
    const counted = async (path: string, by: string) => {
      const headers = { authorization: `Bearer ${by}` };
      const answer = await send(gateway.port, { path, headers, localAddress: '127.0.0.77' });
      return [answer.headers['x-ratelimit-limit'], answer.headers['x-ratelimit-remaining']];
    };
    expect(await counted(`/${project.toUpperCase()}/connections`, sent)).toEqual(['2000', '1999']);
    const other = `/${randomUUID()}/connections`;
    expect(await counted(other, sent)).toEqual(['100', '99']);
    expect(await counted(other, token)).toEqual(['100', '98']);
    expect(await counted('/v7/connections', sent)).toEqual(['100', '99']);
  });

  it('counts each client and each project separately, before it checks the token', async () => {
    const otherClient = await list({ localAddress: '127.0.0.2' });
    expect(otherClient.status).toBe(200);
    expectHeaders(otherClient, 99);
    const otherProject = await list({ project: randomUUID() });
    expectError(otherProject, 'auth/forbidden');
    expectHeaders(otherProject, 99);
    const noToken = await list({ localAddress: '127.0.0.3', headers: { authorization: '' } });
    expectError(noToken, 'auth/unauthorized');
    expectHeaders(noToken, 99);
  });

  it('allows exactly as many concurrent requests as the limit says, and refuses the others', async () => {
    const answers = await Promise.all(Array.from({ length: 130 }, () => list({ localAddress: '127.0.0.4' })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  });

  it.each([
    ['the operation needs no token', signIn, '127.0.0.5'],
    ['a bad token is sent', listConnections, '127.0.0.7'],
  ])('has a ceiling per client over all projects if %s', async (_, operation, localAddress) => {
    const gateway = await test.another({
      env: { RATE_LIMITS: `{"${operation.name}":{"max":1,"windowSeconds":300}}` },
    });
    const ask = () =>
      send(gateway.port, {
        method: operation.method,
        path: `/${randomUUID()}${operation.path}`,
        headers: { authorization: 'Bearer made.up.token' },
        localAddress,
      });
    const statuses = await Promise.all(Array.from({ length: 150 }, async () => (await ask()).status));
    expect(statuses.filter((status) => status !== 429)).toHaveLength(20);
    const refused = await ask();
    expectError(refused, 'rate-limit/exceeded');
    expect(refused.headers['ratelimit-policy']).toBe(`"${operation.name}";q=1;w=300`);
    expect(refused.headers['retry-after']).toBe(/t=(\d+)/.exec(String(refused.headers.ratelimit))?.[1]);
  });

  it('counts a short form together with the long form, under the project that the token claims', async () => {
    const localAddress = '127.0.0.10';
    const remaining = async (path: string, authorization = '') =>
      (await send(ports[0]!, { path, headers: { authorization }, localAddress })).headers[
        'x-ratelimit-remaining'
      ];
    const claiming = (claims: object) =>
      `Bearer head.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`;
    expect(await remaining(`/${project}/connections`)).toBe('99');
    expect(await remaining('/v7/connections', claiming({ projectId: project.toUpperCase() }))).toBe('98');
    expect(await remaining(`/${project}/connections`)).toBe('97');
    // If a request does not claim a valid project, it is counted under a fixed name in place of the project.
    const nobodys = [
      claiming({ projectId: 'made up' }),
      claiming({}),
      claiming([]),
      'Bearer null',
      'nonsense',
      '',
    ];
    for (const [at, authorization] of nobodys.entries()) {
      expect(await remaining('/v6/connections', authorization)).toBe(String(99 - at));
    }
    const user = `/v7/users/${randomUUID()}/connections-count`;
    expect(await remaining(user, claiming({ projectId: project }))).toBe('99');
    expect(await remaining(user)).toBe('98');
  });

  it('finds the client behind the configured number of proxies, and ignores entries that are not addresses', async () => {
    const gateway = await test.another({ env: { TRUST_PROXY_HOPS: '1', RATE_LIMIT_SCALE: '0.01' } });
    const through = async (forwarded: string, localAddress = '127.0.0.6') => {
      const headers = { 'x-forwarded-for': forwarded, authorization: `Bearer ${token}` };
      return (await send(gateway.port, { path: `/${project}/connections`, headers, localAddress })).status;
    };
    expect(await through('203.0.113.1')).toBe(200);
    expect(await through('203.0.113.1')).toBe(429);
    expect(await through('198.51.100.7, 203.0.113.1')).toBe(429);
    expect(await through('203.0.113.2')).toBe(200);
    expect(await through('2001:db8::1')).toBe(200);
    expect(await through('2001:db8::2')).toBe(429);
    expect(await through('::ffff:203.0.113.2')).toBe(429);
    expect(await through('unknown')).toBe(200);
    expect(await through('also unknown')).toBe(429);
  });

  it('sets no rate-limit headers on answers that are not limited', async () => {
    const off = await test.another({ env: { RATE_LIMIT_SCALE: '0' } });
    const answers = await Promise.all([
      send(off.port, { path: `/${project}/connections` }),
      send(ports[0]!, { path: '/.well-known/jwks.json' }),
      send(ports[0]!, { path: '/nothing' }),
    ]);
    for (const { headers } of answers) {
      expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    }
  });
});
