import { randomUUID } from 'node:crypto';
import { ApiError } from '@kith/base';
import { statusHeader } from '@kith/bus';
import {
  exportUser,
  getUser,
  listConnections,
  renameCollection,
  signIn,
  signTestingJwt,
} from '@kith/contracts';
import { errorReply, successReply } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  expectError,
  parseAnswer,
  projectId,
  raw,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
  type TestIssuer,
  userId,
} from './harness.ts';

/** The timeout of a request, in ms. It is so long that a busy machine does not exceed it. */
const timeoutMs = 20_000;

describe.each(handlerEngines())('forwarding on %s', (engine) => {
  let test: TestGateway;
  let issuer: TestIssuer;
  let port: number;
  beforeAll(async () => {
    test = await startTestGateway(engine, {
      env: { REQUEST_TIMEOUT_MS: String(timeoutMs), RATE_LIMIT_SCALE: '0' },
    });
    issuer = await serveIssuer(test.bus);
    port = test.gateway.port;
  });
  afterAll(() => test[Symbol.asyncDispose]());

  const signInPath = `/v7/${projectId}/auth/sign-in`;
  const json = { 'content-type': 'application/json' };

  it('gives the service the verified context of a request, and nothing that a client forges', async () => {
    const service = await serveEcho(test.bus, renameCollection);
    const collectionId = randomUUID();
    const token = await issuer.token();
    const before = Date.now();
    const answer = await send(port, {
      method: 'PATCH',
      path: `/api/v7/${projectId.toUpperCase()}/v6/collections/${collectionId.toUpperCase()}/?a=1&b=%C3%A9`,
      headers: {
        ...json,
        authorization: `Bearer ${token}`,
        'user-agent': 'test/1.0 (a; b)',
        'x-request-id': 'my-id_1',
        'x-forwarded-for': '203.0.113.9',
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
        'kith-context': JSON.stringify({ projectId: randomUUID(), deadline: 99_999_999_999_999 }),
      },
      body: '{"name": "é", "unknown": 1}  ',
    });
    const after = Date.now();
    expect(answer.status).toBe(200);
    expect(answer.headers['x-request-id']).toBe('my-id_1');
    expect(service.seen).toHaveLength(1);
    const { context, body } = service.seen[0]!;
    expect(body).toBe('{"name": "é", "unknown": 1}  ');
    expect(context).toEqual({
      requestId: 'my-id_1',
      projectId,
      caller: { userId, sessionId: expect.any(String), role: 'visitor' },
      clientIp: '127.0.0.1',
      userAgent: 'test/1.0 (a; b)',
      wireVersion: 'v7',
      form: '/api/v7',
      deadline: expect.any(Number),
      params: { collectionId },
      query: 'a=1&b=%C3%A9',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    });
    expect(context.deadline).toBeGreaterThanOrEqual(before + timeoutMs);
    expect(context.deadline).toBeLessThanOrEqual(after + timeoutMs);
    await service.stop();
  });

  it('replaces an unsafe request id with a new one, and drops a malformed traceparent', async () => {
    const service = await serveEcho(test.bus, getUser);
    const path = `/${projectId}/users/${userId}`;
    const headers = { 'x-request-id': 'no spaces here', traceparent: 'garbage' };
    const answer = await send(port, { path, headers });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(service.seen[0]?.context).toMatchObject({
      requestId: answer.headers['x-request-id'],
      traceparent: null,
      caller: null,
      form: '',
      wireVersion: 'v6',
    });
    await service.stop();
  });

  it('forwards a query and a path that contain any bytes', async () => {
    const service = await serveEcho(test.bus, getUser);
    const request = `GET /${projectId}/users/caf%C3%A9%0d%0aKith-Context:x?q=%C3%A9&n=%0d%0aX:1|"{} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const answer = parseAnswer(await raw(port, request));
    expect(answer.status).toBe(200);
    expect(service.seen[0]?.context).toMatchObject({
      params: { userId: 'café\r\nKith-Context:x' },
      query: 'q=%C3%A9&n=%0d%0aX:1|"{}',
      caller: null,
    });
    await service.stop();
  });

  it('writes status and bytes unchanged, and only the headers that may reach the client', async () => {
    const bytes = '{ "odd" :  "spacing", "é": "\\u00e9" }\n';
    const service = await serveEcho(test.bus, getUser, () => ({
      headers: {
        [statusHeader]: '203',
        'Content-Type': 'application/json',
        link: '<?cursor=x>; rel="next"',
        'Cache-Control': 'max-age=60',
        ETag: '"1"',
        'Set-Cookie': 'a=b',
        'X-Internal': 'secret',
        Connection: 'upgrade',
        'Content-Length': '3',
        'X-Request-Id': 'forged',
      },
      body: new TextEncoder().encode(bytes),
    }));
    const path = `/${projectId}/users/${userId}`;
    const answer = await send(port, { path });
    expect(answer).toMatchObject({ status: 203, text: bytes });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      link: '<?cursor=x>; rel="next"',
      'cache-control': 'max-age=60',
      etag: '"1"',
      'content-length': String(Buffer.byteLength(bytes)),
    });
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect(answer.headers).not.toHaveProperty('x-internal');
    expect(answer.headers).not.toHaveProperty('x-powered-by');
    expect(answer.headers['x-request-id']).not.toBe('forged');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');

    const head = await send(port, { method: 'HEAD', path });
    expect(head.text).toBe('');
    const steady = ({ headers }: typeof head) => {
      const { date: _, 'x-request-id': __, ...rest } = headers;
      return rest;
    };
    expect({ status: head.status, headers: steady(head) }).toEqual({ status: 203, headers: steady(answer) });
    await service.stop();
  });

  it('passes on the errors of a service unchanged', async () => {
    const error = new ApiError('user/not-found');
    const service = await serveEcho(test.bus, getUser, () => errorReply('user/not-found', error));
    expectError(await send(port, { path: `/${projectId}/users/x` }), 'user/not-found');
    await service.stop();
    const refusing = await serveEcho(test.bus, signIn, () => errorReply('auth/invalid-credentials'));
    const answer = await send(port, { method: 'POST', path: signInPath, headers: json, body: '{}' });
    expectError(answer, 'auth/invalid-credentials');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    await refusing.stop();
  });

  it('answers 204 without a body and without a content type', async () => {
    const service = await serveEcho(test.bus, signIn, () => successReply(204, undefined, {}));
    const answer = await send(port, { method: 'POST', path: signInPath });
    expect(answer).toMatchObject({ status: 204, text: '' });
    expect(answer.headers).not.toHaveProperty('content-type');
    expect(answer.headers).not.toHaveProperty('content-length');
    await service.stop();
  });

  it('answers 503 immediately, with Retry-After, if no service serves the operation', async () => {
    // If the gateway waited for an answer, it would wait ten minutes.
    const { port } = await test.another({ env: { REQUEST_TIMEOUT_MS: '600000', RATE_LIMIT_SCALE: '0' } });
    const answer = await send(port, { method: 'POST', path: signInPath });
    expectError(answer, 'gateway/unavailable');
    expect(answer.headers['retry-after']).toBe('1');
    const service = await serveEcho(test.bus, signIn);
    expect((await send(port, { method: 'POST', path: signInPath })).status).toBe(200);
    await service.stop();
    expectError(await send(port, { method: 'POST', path: signInPath }), 'gateway/unavailable');
  });

  it('answers 504 after the configured time if a service does not answer', async () => {
    const service = await serveEcho(test.bus, signIn, async () => undefined);
    const { port } = await test.another({ env: { REQUEST_TIMEOUT_MS: '1000', RATE_LIMIT_SCALE: '0' } });
    const began = performance.now();
    expectError(await send(port, { method: 'POST', path: signInPath }), 'gateway/timeout');
    // The gateway has waited for the configured 1 s (a timer may fire a millisecond early), and not for the default timeout
    // of 5 s.
    const waited = performance.now() - began;
    expect(waited).toBeGreaterThanOrEqual(999);
    expect(waited).toBeLessThan(4_800);
    expect(service.seen).toHaveLength(1);
    await service.stop();
  });

  // Only NATS repeats requests (docs/adr/0026).
  it.runIf(engine === 'containers')(
    'repeats a read that is late, but not an export, because each export leaves a row',
    async () => {
      const { promise: end, resolve } = Promise.withResolvers<void>();
      const late = async () => {
        await end;
        return errorReply('user/not-found');
      };
      const exported = await serveEcho(test.bus, exportUser, late);
      const read = await serveEcho(test.bus, getUser, late);
      const path = `/${projectId}/users/${userId}`;
      const headers = { authorization: `Bearer ${await issuer.token()}` };
      const answers = [send(port, { path: `${path}/export`, headers })];
      await waitFor(() => exported.seen.length === 1, { what: 'the export at the service' });
      // The export is older than the read. So if the gateway repeated exports, it would repeat this one first.
      answers.push(send(port, { path, headers }));
      await waitFor(() => read.seen.length >= 2, { what: 'the second request for the read' });
      resolve();
      for (const answer of await Promise.all(answers)) expectError(answer, 'user/not-found');
      expect(exported.seen).toHaveLength(1);
      await exported.stop();
      await read.stop();
    },
  );

  it('answers 500 if a reply of a service has no status', async () => {
    const service = await serveEcho(test.bus, signIn, () => ({ headers: {}, body: new Uint8Array() }));
    expectError(await send(port, { method: 'POST', path: signInPath }), 'gateway/server-error');
    await service.stop();
  });

  it('refuses unknown addresses, methods and projects', async () => {
    expectError(await send(port, { path: '/nothing' }), 'route/not-found');
    expectError(await send(port, { path: `/v7/${projectId}//connections` }), 'route/not-found');
    expectError(await send(port, { path: '/connections' }), 'route/not-found');
    expectError(await send(port, { path: '/v6/me/connections' }), 'project/invalid-id');
    const refused = await send(port, { method: 'DELETE', path: `/${projectId}/connections` });
    expectError(refused, 'route/method-not-allowed');
    expect(refused.headers.allow).toBe('GET, HEAD, OPTIONS');
  });

  it('hides operations for testing in production, unless they are allowed', async () => {
    const service = await serveEcho(test.bus, signTestingJwt);
    const path = `/${projectId}/crypto/sign-testing-jwt`;
    const post = (at: number, to = path) => send(at, { method: 'POST', path: to, headers: json, body: '{}' });
    expect((await post(port)).status).toBe(200);
    const hidden = await test.another({ nodeEnv: 'production' });
    expectError(await post(hidden.port), 'route/not-found');
    expect((await post(hidden.port)).text).toBe((await post(hidden.port, `${path}x`)).text);
    expectError(await send(hidden.port, { path }), 'route/not-found');
    const allowed = await test.another({ nodeEnv: 'production', env: { ALLOW_TEST_TOKENS: 'true' } });
    expect((await post(allowed.port)).status).toBe(200);
    await service.stop();
  });

  it('counts requests by operation and status', async () => {
    const token = await issuer.token();
    const headers = { authorization: `Bearer ${token}` };
    await send(port, { path: `/${projectId}/connections`, headers });
    const line = `operation="${listConnections.name}",status="503"`;
    await expect.poll(() => test.runtime.metrics.registry.metrics()).toContain(line);
  });
});
