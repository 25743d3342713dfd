import { getUser } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  expectError,
  projectId,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
} from './harness.ts';

const exposed =
  'Link,Retry-After,RateLimit,RateLimit-Policy,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,X-Request-Id,Idempotency-Replayed';

describe.each(handlerEngines())('CORS on %s', (engine) => {
  let test: TestGateway;
  beforeAll(async () => {
    test = await startTestGateway(engine);
    await serveIssuer(test.bus);
    await serveEcho(test.bus, getUser);
  });
  afterAll(() => test[Symbol.asyncDispose]());
  const origin = 'https://app.test';
  const path = `/v7/${projectId}/users/u`;

  it('answers a preflight with 204, for any address', async () => {
    for (const target of [path, '/nothing', '/v7/x/y']) {
      const answer = await send(test.gateway.port, {
        method: 'OPTIONS',
        path: target,
        headers: {
          origin,
          'access-control-request-method': 'PATCH',
          'access-control-request-headers': 'authorization,content-type',
        },
      });
      expect(answer).toMatchObject({ status: 204, text: '' });
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        vary: expect.stringContaining('Origin'),
        'access-control-allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE',
        'access-control-allow-headers': 'authorization,content-type',
        'access-control-max-age': '7200',
      });
    }
  });

  it('answers a plain OPTIONS with the methods of the address', async () => {
    const answer = await send(test.gateway.port, { method: 'OPTIONS', path });
    expect(answer.status).toBe(204);
    expect(answer.headers.allow).toBe('GET, HEAD, PATCH, DELETE, OPTIONS');
    expectError(await send(test.gateway.port, { method: 'OPTIONS', path: '/nothing' }), 'route/not-found');
  });

  it('lets pages read the headers of spec#cors-exposed, even on errors', async () => {
    for (const target of [path, '/nothing']) {
      const { headers } = await send(test.gateway.port, { path: target, headers: { origin } });
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers['access-control-allow-credentials']).toBe('true');
      expect(headers.vary).toContain('Origin');
      expect(headers['access-control-expose-headers']).toBe(exposed);
    }
  });

  it('tells caches that an answer depends on the origin, even if the request has no origin', async () => {
    const { headers } = await send(test.gateway.port, { path });
    expect(headers.vary).toBe('Origin');
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  it('lets no page of another origin call the endpoints of operators', async () => {
    for (const target of ['/admin/projects', '/%61dmin/projects', '/admin/nothing', '/admin']) {
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await send(test.gateway.port, {
          method,
          path: target,
          headers: { origin, 'access-control-request-method': 'GET' },
        });
        expect(headers['access-control-allow-origin']).toBeUndefined();
        expect(headers['access-control-allow-credentials']).toBeUndefined();
        expect(headers.vary).toContain('Origin');
      }
    }
  });

  it('allows only the configured origins', async () => {
    const gateway = await test.another({ env: { CORS_ORIGINS: `${origin}, https://b.test` } });
    const from = async (one: string) =>
      (await send(gateway.port, { path, headers: { origin: one } })).headers['access-control-allow-origin'];
    expect(await from(origin)).toBe(origin);
    expect(await from('https://b.test')).toBe('https://b.test');
    expect(await from('https://evil.test')).toBeUndefined();
    const wild = await test.another({ env: { CORS_ORIGINS: 'https://*.example.org' } });
    const allows = async (one: string) => {
      const headers = { origin: one, 'access-control-request-method': 'GET' };
      const answers = ['GET', 'OPTIONS'].map((method) => send(wild.port, { method, path, headers }));
      return (await Promise.all(answers)).map(
        ({ headers: said }) => said['access-control-allow-origin'] === one,
      );
    };
    expect(await allows('https://app.example.org')).toEqual([true, true]);
    for (const one of ['https://example.org', 'https://a.b.example.org', 'https://app.example.org.evil.test'])
      expect(await allows(one)).toEqual([false, false]);
  });
});
