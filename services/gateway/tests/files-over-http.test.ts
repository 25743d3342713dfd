import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { createLogger } from '@kith/base';
import { codeHeader, statusHeader } from '@kith/bus';
import { type ErrorCode, errorBody, statusOf } from '@kith/contracts';
import { waitFor } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { maxBody } from '../src/http/body.ts';
import {
  expectError,
  parseAnswer,
  projectId,
  raw,
  serveIssuer,
  startTestGateway,
  statusesIn,
  type TestGateway,
} from './harness.ts';
import { listen } from './support/listen.ts';

const someId = '3f0e2a52-7d3b-4f0c-9a51-1c2d3e4f5a6b';

describe('requests that the gateway passes on to a file service', () => {
  const undo = new AsyncDisposableStack();
  const seen: { url: string; connection: Socket }[] = [];
  let upstream: Server;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let env: Record<string, string>;
  let test: TestGateway;
  let port: number;
  let token: string;

  beforeAll(async () => {
    upstream = createServer((request, response) => {
      seen.push({ url: request.url ?? '', connection: request.socket });
      answer(request, response);
    });
    const at = await listen(upstream);
    undo.defer(() => {
      upstream.close();
      upstream.closeAllConnections();
    });
    env = {
      KITH_SECRET: 'the secret that these suites sign with',
      RATE_LIMIT_SCALE: '0',
      UPSTREAMS: `storage=${at}`,
    };
    test = undo.use(await startTestGateway('embedded', { env }));
    port = test.gateway.port;
    const issuer = await serveIssuer(test.bus);
    undo.defer(() => issuer.stop());
    token = await issuer.token();
  });
  afterAll(() => undo.disposeAsync());
  beforeEach(() => {
    seen.length = 0;
    answer = (_, response) => {
      response.writeHead(200, { [statusHeader]: '200', 'Content-Length': 2 });
      response.end('ok');
    };
  });

  const pathOf = (fileId: string) => `/${projectId}/storage/files/${fileId}`;
  const head = (method: string, path: string, ...lines: string[]) =>
    [`${method} ${path} HTTP/1.1`, 'Host: x', ...lines, '', ''].join('\r\n');
  const get = (fileId: string, ...lines: string[]) => head('GET', pathOf(fileId), ...lines);
  const post = (...lines: string[]) => {
    const type = 'Content-Type: multipart/form-data; boundary=b';
    return head('POST', `/${projectId}/storage/files`, `Authorization: Bearer ${token}`, type, ...lines);
  };

  const refusing = (code: ErrorCode) => (_: IncomingMessage, response: ServerResponse) => {
    const status = statusOf(code);
    const headers = {
      [statusHeader]: String(status),
      [codeHeader]: code,
      'Content-Type': 'application/json',
    };
    response.writeHead(status, headers);
    response.end(JSON.stringify(errorBody(code)));
  };

  const inside = 'GET /inside HTTP/1.1\r\nX: ';
  it.each([
    ['with a length', `Content-Length: ${inside.length}`, inside],
    ['in chunks', 'Transfer-Encoding: chunked', `${inside.length.toString(16)}\r\n${inside}\r\n0\r\n\r\n`],
  ])('the body of a download is not passed on, %s', async (_, line, body) => {
    const ids = [randomUUID(), randomUUID()] as const;
    expect(statusesIn(await raw(port, get(ids[0], line, 'Connection: close') + body))).toEqual([200]);
    expect(statusesIn(await raw(port, get(ids[1], 'Connection: close')))).toEqual([200]);
    expect(seen.map(({ url }) => url)).toEqual(ids.map(pathOf));
    expect(new Set(seen.map(({ connection }) => connection)).size).toBe(1);
  });

  it('a client can send another request after a short body that nobody read', async () => {
    const first = `${get(randomUUID(), 'Content-Length: 2')}ab`;
    expect(statusesIn(await raw(port, first, get(randomUUID(), 'Connection: close')))).toEqual([200, 200]);
  });

  it('storage gets a pipelined download only when the answer before it has ended', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const half = 'x'.repeat(512 * 1024);
    const begun = Promise.withResolvers<ServerResponse>();
    answer = (request, response) => {
      response.writeHead(200, { [statusHeader]: '200', 'Content-Length': 2 * half.length });
      response.write(half);
      if (request.url === pathOf(first)) begun.resolve(response);
      else response.end(half);
    };
    const waits = Promise.withResolvers<void>();
    const onRequest = (message: unknown) => {
      const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
      if (request.url !== pathOf(second)) return;
      response.on('newListener', (name) => name === 'socket' && waits.resolve());
    };
    subscribe('http.server.request.start', onRequest);
    const socket = connect(port, '127.0.0.1');
    const answers = text(socket);
    socket.write(get(first) + get(second, 'Connection: close'));
    // Resolves when the second request is waiting for its turn on the connection.
    await waits.promise;
    unsubscribe('http.server.request.start', onRequest);
    const held = await begun.promise;
    expect(seen.map(({ url }) => url)).toEqual([pathOf(first)]);
    held.end(half);
    expect(statusesIn(await answers)).toEqual([200, 200]);
    expect(seen.map(({ url }) => url)).toEqual([pathOf(first), pathOf(second)]);
    expect((await answers).endsWith(half + half)).toBe(true);
  });

  it('a refusal without the status header of a Kith service becomes 503, and the next request can use the same connection', async () => {
    answer = (_, response) => {
      response.writeHead(403, { 'Content-Length': 9 });
      response.end('forbidden');
    };
    for (let nth = 0; nth < 2; nth++) {
      const refused = parseAnswer(await raw(port, get(randomUUID(), 'Connection: close')));
      expectError(refused, 'gateway/unavailable');
      expect(refused.headers['retry-after']).toBe('1');
    }
    expect(new Set(seen.map(({ connection }) => connection)).size).toBe(1);
  });

  it('an upload gets 504, not 408, if storage takes no more bytes', async () => {
    const upstreamTimes = { answer: 400, idle: 20_000 };
    const impatient = await test.another({ env, upstreamTimes });
    const body = Buffer.alloc(32 * 1024 * 1024);
    answer = (request) => void request.pause();
    const answered = raw(impatient.port, post(`Content-Length: ${body.length}`, 'Connection: close'), body);
    expectError(parseAnswer(await answered), 'gateway/timeout');
    expect(seen).toHaveLength(1);
  });

  it('an upload that is answered with 408 is not stored, even if its last byte still arrives', async () => {
    const slow = await test.another({
      env,
      timeouts: { headers: 1_000, upload: 2_000, lingerUpload: 1_000 },
    });
    const isWhole = Promise.withResolvers<boolean>();
    answer = (request) => {
      request.resume();
      request.on('error', () => undefined);
      request.once('end', () => isWhole.resolve(true)).once('close', () => isWhole.resolve(false));
    };
    const socket = connect(slow.port, '127.0.0.1');
    const answered = text(socket);
    socket.once('data', () => socket.write('b'));
    socket.write(`${post('Content-Length: 2')}a`);
    expect(await isWhole.promise).toBe(false);
    socket.end();
    expectError(parseAnswer(await answered), 'request/timeout');
  });

  it('an upload and a download are answered even if the client has ended its side of the connection', async () => {
    const halfOpen = async (bytes: string) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      socket.end(bytes);
      return parseAnswer(await text(socket)).text;
    };
    const whole = 'x'.repeat(1024 * 1024);
    answer = (request, response) => {
      const body = request.method === 'POST' ? '{}' : whole;
      request.resume().once('end', () => {
        const type = request.method === 'POST' ? 'application/json' : 'text/plain';
        const head = { [statusHeader]: '200', 'Content-Type': type, 'Content-Length': body.length };
        response.writeHead(200, head).end(body);
      });
    };
    expect(await halfOpen(`${post('Content-Length: 2')}ab`)).toBe('{}');
    expect(await halfOpen(get(randomUUID()))).toBe(whole);
  });

  it('an upload ends when its client ends its side of the connection within the body', async () => {
    const isWhole = Promise.withResolvers<boolean>();
    answer = (request) => {
      request.resume();
      request.on('error', () => undefined);
      request.once('end', () => isWhole.resolve(true)).once('close', () => isWhole.resolve(false));
    };
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.write(`${post('Content-Length: 2')}a`);
    await waitFor(() => seen.length === 1);
    const answered = text(socket);
    socket.end();
    expect(await isWhole.promise).toBe(false);
    expectError(parseAnswer(await answered), 'request/invalid-http');
  });

  it('an error has the form that the client wants', async () => {
    answer = refusing('storage/not-found');
    const lines = ['Accept: application/problem+json', 'Connection: close'];
    const { headers, text } = parseAnswer(await raw(port, get(randomUUID(), ...lines)));
    expect(headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(text)).toMatchObject({ status: 404, code: 'storage/not-found' });
  });

  it.each(['storage/not-found', 'storage/invalid-range', 'request/precondition-failed'] as const)(
    'HEAD gets the same error as GET, without the body: %s',
    async (code) => {
      answer = refusing(code);
      const asked = async (method: string) =>
        parseAnswer(await raw(port, head(method, pathOf(randomUUID()), 'Connection: close')));
      const [ofGet, ofHead] = [await asked('GET'), await asked('HEAD')];
      expectError(ofGet, code);
      expect([ofHead.status, ofHead.text]).toEqual([statusOf(code), '']);
      for (const name of ['content-type', 'content-length', 'cache-control'])
        expect(ofHead.headers[name]).toBe(ofGet.headers[name]);
    },
  );

  it.each(['%2e%2e', '%2E', '..', 'nonsense', `${someId}/%2e%2e`, `${someId}/.`])(
    'the gateway itself refuses an impossible file id: %s',
    async (name) => {
      const text = await raw(port, get(name, 'Connection: close'));
      expectError(parseAnswer(text), 'storage/not-found');
      expect(seen).toEqual([]);
    },
  );

  it('a download is answered without waiting for the body that its request announces, and the connection ends', async () => {
    const text = await raw(port, get(randomUUID(), 'Content-Length: 1000000'), get(randomUUID()));
    expect(statusesIn(text)).toEqual([200]);
    expect(text).toContain('\r\nConnection: close\r\n');
    expect(seen).toHaveLength(1);
  });

  it.each([
    ['a short upload, then the next request', 200 * 1024],
    ['a long upload', 8 * 1024 * 1024],
  ])('the rest of an upload is read after storage has failed: %s', async (_, length) => {
    answer = (request) => request.socket.destroy();
    const isShort = length <= maxBody;
    const body = Buffer.alloc(length, 'x');
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write(post(`Content-Length: ${length}`));
    socket.write(body.subarray(0, length / 2));
    await waitFor(() => text.includes('gateway/unavailable'), { what: 'the answer' });
    socket.write(body.subarray(length / 2));
    socket.end(isShort ? head('GET', '/nothing', 'Connection: close') : '');
    // Rejects if the connection is reset.
    await once(socket, 'close');
    expect(statusesIn(text)).toEqual(isShort ? [503, 404] : [503]);
  });

  it('an upload gets 504, not 503, if storage fails after the last byte, because the file may be stored', async () => {
    const lines = ['Content-Length: 2', 'Connection: close'];
    const codeOf = async (at = port) =>
      JSON.parse(parseAnswer(await raw(at, `${post(...lines)}ab`)).text).code;
    answer = (request) => {
      request.resume();
      request.on('end', () => request.socket.destroy());
    };
    expect(await codeOf()).toBe('gateway/timeout');
    // No service listens at this address. So no service has the upload, although the gateway has received all of it.
    const nobody = createServer();
    const away = await listen(nobody);
    nobody.close();
    await once(nobody, 'close');
    const gateway = await test.another({ env: { ...env, UPSTREAMS: `storage=${away}` } });
    expect(await codeOf(gateway.port)).toBe('gateway/unavailable');
  });

  /** Starts a gateway whose log the test reads, and which counts failures from 0. */
  const startLogged = async (changes: Record<string, string> = {}) => {
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const log = createLogger({ name: 'test', level: 'info', destination });
    const gateway = await test.another({ env: { ...env, ...changes }, log });
    const counted = async () => (await test.runtime.metrics.upstreamFailures.get()).values;
    test.runtime.metrics.upstreamFailures.reset();
    const warnings = () => lines.filter(({ level }) => level === 'warn');
    return { port: gateway.port, lines, warnings, counted };
  };

  it.each([
    ['no_address', { UPSTREAMS: '' }, 'UPSTREAMS has no address of the service, or KITH_SECRET is not set.'],
    ['connection_failed', {}, 'socket hang up'],
    ['timeout', { REQUEST_TIMEOUT_MS: '100' }, 'The service has not answered in 100 ms.'],
    ['invalid_answer', {}, 'The answer has the status 403, but lacks the header Kith-Status.'],
  ])(
    'if requests cannot be passed on, the metrics count each one, and the log gives the reason once a minute: %s',
    async (reason, changes, message) => {
      const answers: Record<string, typeof answer> = {
        connection_failed: (request) => request.socket.destroy(),
        timeout: () => undefined,
        invalid_answer: (_, response) => response.writeHead(403).end(),
      };
      answer = answers[reason] ?? answer;
      const { port, warnings, counted } = await startLogged(changes);
      const about = [{ services: ['storage'], msg: expect.stringContaining('UPSTREAMS has no address') }];
      const atStart = reason === 'no_address' ? about : [];
      expect(warnings()).toMatchObject(atStart);
      const fileId = randomUUID();
      for (const requestId of ['first', 'second']) {
        const lines = [`X-Request-Id: ${requestId}`, 'Connection: close'];
        const text = await raw(port, head('GET', `${pathOf(fileId)}?q=secret`, ...lines));
        expectError(parseAnswer(text), reason === 'timeout' ? 'gateway/timeout' : 'gateway/unavailable');
      }
      const line = {
        upstream: 'storage',
        reason,
        operation: 'storage.get-file',
        requestId: 'first',
        unlogged: 0,
      };
      expect(warnings().slice(atStart.length)).toMatchObject([{ ...line, err: { message } }]);
      expect(JSON.stringify(warnings())).not.toMatch(`${fileId}|secret`);
      expect(await counted()).toEqual([{ labels: { service: 'storage', reason }, value: 2 }]);
    },
  );

  it.each([
    ['resets the connection of a download', 'resetAndDestroy', () => get(randomUUID())],
    ['resets the connection of an upload', 'resetAndDestroy', () => `${post('Content-Length: 2')}a`],
    ['closes the connection of an upload', 'destroy', () => `${post('Content-Length: 2')}a`],
  ] as const)('it is no failure of the service if a client %s', async (_, leave, request) => {
    answer = () => undefined;
    const { port, lines, warnings, counted } = await startLogged();
    const socket = connect(port, '127.0.0.1');
    socket.write(request());
    await waitFor(() => seen.length === 1);
    socket[leave]();
    await waitFor(() => lines.some(({ msg }) => msg === 'request'));
    await waitFor(() => seen[0]?.connection.destroyed);
    expect(warnings()).toEqual([]);
    expect(await counted()).toEqual([]);
  });

  it('an upload that storage does not read gets an answer in time', async () => {
    answer = () => undefined;
    const gateway = await test.another({ env, upstreamTimes: { answer: 3_000 } });
    const begun = Promise.withResolvers<IncomingMessage>();
    const onRequest = (message: unknown) => {
      const { request } = message as { request: IncomingMessage };
      if (request.socket.localPort === gateway.port) begun.resolve(request);
    };
    subscribe('http.server.request.start', onRequest);
    const socket = connect(gateway.port, '127.0.0.1');
    const answered = text(socket);
    socket.write(post('Transfer-Encoding: chunked', 'Connection: close'));
    const request = await begun.promise;
    unsubscribe('http.server.request.start', onRequest);
    // Sends pieces until the gateway stops reading and waits for storage. The last piece and the end are so small that the
    // gateway still reads them.
    const size = 16 * 1024;
    const piece = `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
    socket.write(piece);
    await waitFor(() => seen.length === 1, { what: 'the request at storage' });
    for (let held = 0; held < 1_000; held = request.readableLength > 0 ? held + 1 : 0) {
      const { bytesRead } = request.socket;
      if (request.readableLength === 0) {
        socket.write(piece);
        while (request.socket.bytesRead < bytesRead + piece.length) await turn();
      }
      await turn();
    }
    socket.write('0\r\n\r\n');
    await waitFor(() => request.complete, { what: 'the whole body at the gateway' });
    expect(request.readableEnded).toBe(false);
    expectError(parseAnswer(await answered), 'gateway/timeout');
  });

  it.each(['http://h:99999', 'http://h:80', 'http://[h'])(
    'a request is passed on if its address begins with %s',
    async (origin) => {
      answer = (request, response) => {
        request.resume();
        request.on('end', () => {
          response.writeHead(201, { [statusHeader]: '201', 'Content-Type': 'application/json' });
          response.end('{}');
        });
      };
      const lines = ['Content-Length: 2', 'Connection: close'];
      const head = post(...lines).replace('POST /', `POST ${origin}/`);
      expect(statusesIn(await raw(port, head, 'ab'))).toEqual([201]);
      expect(seen.map(({ url }) => url)).toEqual([`/${projectId}/storage/files`]);
    },
  );
});
