import { connect } from 'node:net';
import { getUser, signIn } from '@kith/contracts';
import { decodeContext, successReply } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  expectError,
  parseAnswer,
  projectId,
  raw,
  type Seen,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  statusesIn,
  type TestGateway,
} from './harness.ts';

describe.each(handlerEngines())('HTTP itself on %s', (engine) => {
  let test: TestGateway;
  let port: number;
  let signIns: Seen[];
  let release: (() => void) | undefined;
  beforeAll(async () => {
    test = await startTestGateway(engine, {
      env: { RATE_LIMIT_SCALE: '0' },
      timeouts: { headers: 1_000, request: 2_000 },
    });
    await serveIssuer(test.bus);
    await serveEcho(test.bus, getUser, async (message) => {
      if (Object.values(decodeContext(message.headers).params).some((value) => value.includes('slow'))) {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      return successReply(200, {}, {});
    });
    signIns = (await serveEcho(test.bus, signIn)).seen;
    port = test.gateway.port;
  });
  afterAll(() => test[Symbol.asyncDispose]());

  const close = 'Host: x\r\nConnection: close\r\n\r\n';
  const user = `/${projectId}/users/u`;

  it.each([
    ['bytes that are no HTTP', 'hello\r\n\r\n'],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01'],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a target without a slash', `GET nothing HTTP/1.1\r\n${close}`],
    ['a path that is not ASCII', `GET /caf\u00c3\u00a9 HTTP/1.1\r\n${close}`],
    ['a query that is not ASCII', `GET ${user}?q=\u00c3\u00a9 HTTP/1.1\r\n${close}`],
    ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two Hosts', `GET / HTTP/1.1\r\nHost: a\r\n${close}`],
    ['a malformed Host', 'GET / HTTP/1.1\r\nHost: a b/c\r\nConnection: close\r\n\r\n'],
    ['a space before a colon', `GET / HTTP/1.1\r\nX : y\r\n${close}`],
    ['two lengths', `POST ${user} HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n${close}x`],
    [
      'length and chunks',
      `POST ${user} HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n${close}0\r\n\r\n`,
    ],
    ['an unknown transfer coding', `POST ${user} HTTP/1.1\r\nTransfer-Encoding: gzip\r\n${close}x`],
  ])('answers %s with 400', async (_, bytes) => {
    expectError(parseAnswer(await raw(port, Buffer.from(bytes, 'latin1'))), 'request/invalid-http');
  });

  it('answers a malformed chunk with 400', async () => {
    const head = `POST /${projectId}/auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expectError(parseAnswer(await raw(port, `${head}2\r\n{}\r\nzz\r\n`)), 'request/invalid-http');
  });

  it.each([
    ['a header', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n${close}`],
    ['a target', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${close}`],
  ])('answers 431 to %s that is too long', async (_, bytes) => {
    expectError(parseAnswer(await raw(port, bytes)), 'request/headers-too-large');
  });

  it('answers endless chunk extensions with 413', async () => {
    const head = `POST /${projectId}/auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expectError(parseAnswer(await raw(port, `${head}2;${'x'.repeat(20_000)}\r\n`)), 'request/too-large');
  });

  it.each([
    ['headers', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    [
      'a body',
      `POST /${projectId}/auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    ],
  ])('answers 408 to %s that never end', async (_, bytes) => {
    expectError(parseAnswer(await raw(port, bytes)), 'request/timeout');
  });

  it.each([
    ['late', 408, '{'],
    ['malformed', 400, 'zz\r\n'],
    ['too long', 413, `2;${'x'.repeat(20_000)}\r\n`],
  ])('the answer to a body that is %s has the same headers as any other answer', async (_, status, bytes) => {
    const limited = await test.another({ timeouts: { request: 2_000 } });
    const framing = status === 408 ? 'Content-Length: 9' : 'Transfer-Encoding: chunked';
    const lines = ['Host: x', 'Content-Type: application/json', framing, 'Origin: https://app.example'];
    const accept = 'Accept: application/problem+json';
    const id = 'X-Request-Id: mine';
    const post = [`POST /${projectId}/auth/sign-in HTTP/1.1`, ...lines, accept, id, '', bytes];
    const answer = parseAnswer(await raw(limited.port, post.join('\r\n')));
    expect([answer.status, JSON.parse(answer.text).status]).toEqual([status, status]);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'access-control-allow-origin': 'https://app.example',
      'x-request-id': 'mine',
      connection: 'close',
    });
    expect(answer.headers.ratelimit).toMatch(/identity\.sign-in/);
  });

  it('does not carry out a request that it has answered with 408', async () => {
    const json = 'Host: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n';
    const post = `POST /${projectId}/auth/sign-in HTTP/1.1\r\n${json}`;
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(`${post}{`));
      let text = '';
      socket.on('data', (chunk) => {
        // The rest of the body arrives before the connection is closed, and so does a further request.
        if (text === '') socket.write(`"late":1}${post}{"next":1}`);
        text += chunk;
      });
      socket.on('close', () => resolve(text));
      socket.on('error', () => undefined);
    });
    expect(statusesIn(answer)).toEqual([408]);
    expectError(parseAnswer(answer), 'request/timeout');
    expect(parseAnswer(answer).headers.connection).toBe('close');
    const headers = { 'content-type': 'application/json' };
    await send(port, { method: 'POST', path: `/${projectId}/auth/sign-in`, headers, body: '{"last":1}' });
    expect(signIns.map(({ body }) => body)).toEqual(['{"last":1}']);
  });

  it('refuses unknown expectations with 417, and ignores them in HTTP/1.0', async () => {
    const unknown = await raw(port, `GET ${user} HTTP/1.1\r\nExpect: wonders\r\n${close}`);
    expectError(parseAnswer(unknown), 'request/expectation-failed');
    expect(parseAnswer(await raw(port, `GET ${user} HTTP/1.0\r\nExpect: wonders\r\n\r\n`)).status).toBe(200);
  });

  it('refuses CONNECT with 405', async () => {
    const answer = parseAnswer(
      await raw(port, 'CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n'),
    );
    expectError(answer, 'route/method-not-allowed');
    expect(answer.headers.allow).toContain('GET, HEAD');
  });

  it('counts an unreadable request or a CONNECT like any other request without an endpoint', async () => {
    const { httpRequests } = test.runtime.metrics;
    const count = async (method: string, status: string) => {
      const { values } = await httpRequests.get();
      const isSame = (labels: object) =>
        JSON.stringify(Object.entries(labels).sort()) ===
        JSON.stringify(Object.entries({ operation: 'none', method, status }).sort());
      return values.find(({ labels }) => isSame(labels))?.value ?? 0;
    };
    const cases = [
      ['_OTHER', '400', 'hello\r\n\r\n'],
      ['_OTHER', '431', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n${close}`],
      ['CONNECT', '405', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n'],
    ] as const;
    for (const [method, status, bytes] of cases) {
      const before = await count(method, status);
      expect(statusesIn(await raw(port, bytes))).toEqual([Number(status)]);
      expect((await count(method, status)) - before, status).toBe(1);
    }
  });

  it('ignores a request to upgrade to another protocol', async () => {
    const upgrade = `GET ${user} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`;
    expect(parseAnswer(await raw(port, upgrade)).status).toBe(200);
  });

  it('accepts HTTP/1.0, absolute targets, and OPTIONS of the whole server', async () => {
    expect(parseAnswer(await raw(port, `GET ${user} HTTP/1.0\r\n\r\n`)).status).toBe(200);
    expect(parseAnswer(await raw(port, `GET http://x:80${user} HTTP/1.1\r\n${close}`)).status).toBe(200);
    expect(parseAnswer(await raw(port, `OPTIONS * HTTP/1.1\r\n${close}`)).status).toBe(204);
    expectError(parseAnswer(await raw(port, `GET http://x HTTP/1.1\r\n${close}`)), 'route/not-found');
    expectError(parseAnswer(await raw(port, `GET xyz://host HTTP/1.1\r\n${close}`)), 'route/not-found');
    expectError(parseAnswer(await raw(port, `GET //x/y HTTP/1.1\r\n${close}`)), 'route/not-found');
    expectError(parseAnswer(await raw(port, `GET /%zz HTTP/1.1\r\n${close}`)), 'route/not-found');
    expectError(parseAnswer(await raw(port, `GET /%00/%2e%2e HTTP/1.1\r\n${close}`)), 'route/not-found');
    expectError(parseAnswer(await raw(port, `PURGE / HTTP/1.1\r\n${close}`)), 'route/not-found');
  });

  it('answers pipelined requests in their order, and then the malformed bytes that follow them', async () => {
    const slow = `GET /${projectId}/users/slow HTTP/1.1\r\nHost: x\r\n\r\n`;
    const whole = raw(port, slow, 'nonsense\r\n\r\n');
    const answerSlow = await waitFor(() => release, { what: 'the slow request at the service' });
    answerSlow();
    const text = await whole;
    expect(text).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(text).toContain('HTTP/1.1 400 Bad Request');
    expect(text.trimEnd().endsWith('"code":"request/invalid-http"}')).toBe(true);
  });

  it('answers pipelined requests in their order, even if a later answer is ready first', async () => {
    const slow = `GET /${projectId}/users/slow HTTP/1.1\r\nHost: x\r\n\r\n`;
    release = undefined;
    const whole = raw(
      port,
      `${slow}GET /nothing HTTP/1.1\r\nHost: x\r\n\r\nGET ${user} HTTP/1.1\r\n${close}`,
    );
    const answerSlow = await waitFor(() => release, { what: 'the slow request at the service' });
    answerSlow();
    expect(statusesIn(await whole)).toEqual([200, 404, 200]);
  });

  it('answers pipelined requests in their order, and then the CONNECT that follows them', async () => {
    const slow = `GET /${projectId}/users/slow HTTP/1.1\r\nHost: x\r\n\r\n`;
    release = undefined;
    const whole = raw(port, `${slow}CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n`);
    const answerSlow = await waitFor(() => release, { what: 'the slow request at the service' });
    answerSlow();
    expect(statusesIn(await whole)).toEqual([200, 405]);
  });

  it.each([
    ['wrong', 'zz\r\n', 400],
    ['late', '', 408],
  ])('if a pipelined body is %s, first answers the earlier requests', async (_, rest, status) => {
    const slow = `GET /${projectId}/users/slow HTTP/1.1\r\nHost: x\r\n\r\n`;
    const json = 'Content-Type: application/json\r\nTransfer-Encoding: chunked';
    const last = `POST /${projectId}/auth/sign-in HTTP/1.1\r\nHost: x\r\n${json}\r\n\r\n${rest}`;
    release = undefined;
    const whole = raw(port, slow + last);
    const answerSlow = await waitFor(() => release, { what: 'the slow request at the service' });
    // This connection is opened later than the first one. So when its request is refused, the body on the first connection is
    // overdue, too.
    expect(statusesIn(await raw(port, last))).toEqual([status]);
    answerSlow();
    expect(statusesIn(await whole)).toEqual([200, status]);
  });

  it('keeps serving after clients have reset their connections', async () => {
    for (const bytes of [
      'GET / HT',
      `POST /${projectId}/auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => socket.resetAndDestroy()));
        socket.on('close', () => resolve());
        socket.on('error', () => undefined);
      });
    }
    expect((await send(port, { path: user })).status).toBe(200);
  });
});
