import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { signIn } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Answer,
  expectError,
  parseAnswer,
  projectId,
  raw,
  type Seen,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
} from './harness.ts';

const limit = 256 * 1024;
const path = `/v7/${projectId}/auth/sign-in`;

describe.each(handlerEngines())('bodies on %s', (engine) => {
  let test: TestGateway;
  let seen: Seen[];
  let port: number;
  beforeAll(async () => {
    test = await startTestGateway(engine, { env: { RATE_LIMIT_SCALE: '0' } });
    await serveIssuer(test.bus);
    seen = (await serveEcho(test.bus, signIn)).seen;
    port = test.gateway.port;
  });
  afterAll(() => test[Symbol.asyncDispose]());
  beforeEach(() => {
    seen.length = 0;
  });

  const post = (headers: Record<string, string>, body?: string | Uint8Array) =>
    send(port, { method: 'POST', path, headers, ...(body === undefined ? {} : { body }) });
  const bare = async (head: string, ...rest: string[]): Promise<Answer> =>
    parseAnswer(await raw(port, `POST ${path} HTTP/1.1\r\nHost: x\r\n${head}\r\n`, ...rest));

  it.each([
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/json; charset=utf8; x=y',
  ])('takes %s', async (type) => {
    expect((await post({ 'content-type': type }, '{"a":1}')).status).toBe(200);
    expect(seen[0]?.body).toBe('{"a":1}');
  });

  it.each([
    [{ 'content-type': 'text/plain' }],
    [{ 'content-type': 'application/x-www-form-urlencoded' }],
    [{ 'content-type': 'application/merge-patch+json' }],
    [{ 'content-type': 'application/json; charset=latin1' }],
    [{ 'content-type': 'nonsense' }],
    [{}],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('refuses %j', async (headers: Record<string, string>) => {
    expectError(await post(headers, '{"a":1}'), 'request/unsupported-media-type');
    expectError(
      await post({ ...headers, 'transfer-encoding': 'chunked' }, '{"a":1}'),
      'request/unsupported-media-type',
    );
    expect(seen).toHaveLength(0);
  });

  it('accepts a missing body, no matter which type the headers name', async () => {
    expect((await post({ 'content-type': 'text/plain' })).status).toBe(200);
    expect((await post({ 'content-type': 'text/plain', 'content-length': '0' })).status).toBe(200);
    expect((await post({ 'content-type': 'text/plain', 'transfer-encoding': 'chunked' })).status).toBe(200);
    expect(seen.map(({ body }) => body)).toEqual(['', '', '']);
  });

  it('takes exactly 256 KiB, and refuses one byte more', async () => {
    const json = { 'content-type': 'application/json' };
    const chunked = { ...json, 'transfer-encoding': 'chunked' };
    for (const headers of [json, chunked]) {
      expect((await post(headers, 'x'.repeat(limit))).status).toBe(200);
      const refused = await post(headers, 'x'.repeat(limit + 1));
      expectError(refused, 'request/too-large');
      expect(refused.headers.connection).toBe('close');
    }
    expect(seen.map(({ body }) => body.length)).toEqual([limit, limit]);
  });

  it('refuses a body with too large a declared length, before any byte of the body is sent', async () => {
    const answer = await bare(`Content-Type: application/json\r\nContent-Length: ${limit + 1}\r\n`);
    expectError(answer, 'request/too-large');
  });

  it('answers a request whose body never ends, and stops reading', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const answer = await bare(
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n',
      ...Array.from({ length: 5 }, () => chunk),
    );
    expectError(answer, 'request/too-large');
  });

  it.each([
    ['request/too-large', 'application/json'],
    ['request/unsupported-media-type', 'text/plain'],
  ])('answers %s even if the client sends a long chunked body before it reads', async (code, type) => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type}\r\n`;
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    // Ten MiB are more than the buffers of both sockets can hold.
    for (let nth = 0; nth < 160; nth++) if (!socket.write(chunk)) await once(socket, 'drain');
    expect(await text(socket)).toContain(`"code":"${code}"`);
  });

  it('does not handle a request that follows a refused body', async () => {
    const body = 'x'.repeat(limit + 1);
    const next = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    expectError(await bare(head, body, next), 'request/too-large');
    expect(seen).toHaveLength(0);
  });

  it('sends 100 Continue only if it wants the body', async () => {
    const wanted = await raw(
      port,
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n`,
      '{}',
    );
    expect(wanted).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    const refused = await bare('Expect: 100-continue\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n');
    expectError(refused, 'request/unsupported-media-type');
    expect(refused.headers.connection).toBe('close');
  });

  it('keeps the connection after a short body that nobody read', async () => {
    const unwanted = `POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    const last = `GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const answers = await raw(port, unwanted, last);
    expect(answers.match(/HTTP\/1\.1 404 Not Found/g)).toHaveLength(2);
  });

  it('checks the body after the token', async () => {
    const big = { method: 'PATCH', path: `/${projectId}/collections/x`, body: 'x'.repeat(limit + 1) };
    expectError(await send(port, { ...big, headers: { 'content-type': 'text/plain' } }), 'auth/unauthorized');
  });

  it('ignores the body of GET', async () => {
    const service = await serveIssuer(test.bus);
    const answer = await send(port, {
      path: '/.well-known/jwks.json',
      headers: { 'content-type': 'text/plain', 'content-length': '3' },
      body: 'abc',
    });
    expect(answer.status).toBe(200);
    await service.stop();
  });
});
