import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger, Metrics } from '@kith/base';
import { waitFor } from '@kith/testing';
import { afterEach, expect, test } from 'vitest';
import { OpenConnections } from '../limits/open-connections.ts';
import { type ConnectionCaps, type HttpTimeouts, startHttpServer } from './http-server.ts';
import { refusalOf } from './refused-body.ts';

/** More bytes than the buffers of a connection can hold. */
const largeBytes = 64 * 1024 * 1024;

let undo = new AsyncDisposableStack();
afterEach(async () => {
  await undo.disposeAsync();
  undo = new AsyncDisposableStack();
});

interface Served {
  port: number;
  /** How many answers were closed, no matter whether the client had read them completely. */
  closed: () => number;
  /** Answers to `/held`, which the test itself sends. */
  held: ServerResponse[];
  metrics: Metrics;
  warnings: Record<string, unknown>[];
}

async function serve(options: { timeouts?: Partial<HttpTimeouts>; caps?: ConnectionCaps }): Promise<Served> {
  let closed = 0;
  const held: ServerResponse[] = [];
  const metrics = new Metrics();
  const warnings: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void warnings.push(JSON.parse(line)) };
  const log = createLogger({ name: 'test', level: 'warn', destination });
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    log,
    metrics,
    caps: { all: 100 },
    ...options,
    timeouts: { drain: 100, ...options.timeouts },
    handler(request, response) {
      response.on('close', () => closed++);
      const answer = () => response.end(request.url === '/large' ? Buffer.alloc(largeBytes) : 'small');
      if (request.url === '/held') held.push(response);
      else if (request.url === '/slow') setTimeout(answer, 500);
      else answer();
    },
  });
  undo.defer(() => server.stop());
  return { port: server.port, closed: () => closed, held, metrics, warnings };
}

/** Everything that arrives on a connection until the connection ends. */
async function allOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  undo.defer(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

const connectTo = 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n';
const ask = (socket: Socket, path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);

/**
 * Sends a request on a connection. Returns the status line of the answer, or `closed` if the connection closes without an
 * answer.
 */
async function outcome(socket: Socket): Promise<string> {
  ask(socket, '/');
  return await new Promise((resolve) => {
    socket.once('data', (chunk) => resolve(chunk.toString().split('\r\n')[0] as string));
    socket.once('close', () => resolve('closed'));
  });
}

test.each([
  ['', ''],
  [', even if CONNECT follows its request', connectTo],
])('the connection of an answer that nobody reads is closed%s', async (_, more) => {
  const { port, closed } = await serve({ timeouts: { unread: 200 } });
  const socket = await open(port);
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.pause();
  ask(socket, '/large');
  socket.write(more);
  await waitFor(() => closed() === 1);
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.resume();
  await ended;
  expect(bytes).toBeLessThan(largeBytes);
});

test.each([
  ['', ''],
  [', even if CONNECT follows its request', connectTo],
])('a connection stays open while its answer takes long%s', async (_, more) => {
  const { port } = await serve({ timeouts: { unread: 50 } });
  const socket = await open(port);
  ask(socket, '/slow');
  socket.write(more);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  expect(chunk.toString()).toContain('200 OK');
});

test('a client that ends its side of the connection after its requests gets all its answers', async () => {
  const { port } = await serve({});
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  undo.defer(() => void socket.destroy());
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  socket.end(get('/slow') + get('/'));
  expect((await allOf(socket)).match(/HTTP\/1\.1 \d+|small/g)).toEqual([
    ...['HTTP/1.1 200', 'small'],
    ...['HTTP/1.1 200', 'small'],
  ]);
});

test('a client that ends its side of the connection within a body is refused', async () => {
  const { port, held } = await serve({});
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  undo.defer(() => void socket.destroy());
  const all = allOf(socket);
  socket.write('POST /held HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab');
  const response = await waitFor(() => held[0]);
  socket.end();
  await waitFor(() => refusalOf(response.req));
  response.end('refused');
  expect(await all).toContain('refused');
});

test('a client that sends its whole body before it reads gets the answer, even if it takes longer than a connection lingers', async () => {
  const { port, held } = await serve({ timeouts: { linger: 500 } });
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  undo.defer(() => void socket.destroy());
  const failures: Error[] = [];
  socket.on('error', (error) => failures.push(error));
  const all = allOf(socket);
  socket.write('POST /held HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n');
  const response = await waitFor(() => held[0]);
  response.req.resume();
  response.end('refused');
  for (let piece = 0; piece < 15; piece++) {
    socket.write('1\r\nx\r\n');
    await pause(50);
  }
  socket.end('0\r\n\r\n');
  expect(await all).toContain('refused');
  expect(failures).toEqual([]);
});

test('bytes after a request that is being answered are neither read nor kept', async () => {
  const { port, held } = await serve({ timeouts: { linger: 200 } });
  const socket = await open(port);
  const all = allOf(socket);
  ask(socket, '/held');
  const response = await waitFor(() => held[0]);
  const server = response.req.socket;
  const before = response.listenerCount('close');
  const garbage = Buffer.alloc(32 * 1024, '\0');
  const pieces = 5;
  for (let piece = 1, sent = server.bytesRead; piece <= pieces; piece++) {
    socket.write(garbage);
    sent += garbage.length;
    await waitFor(() => server.isPaused() || server.bytesRead >= sent);
  }
  expect(response.listenerCount('close')).toBeLessThanOrEqual(before + 1);
  expect(server.bytesRead).toBeLessThan(pieces * garbage.length);
  response.end('small');
  expect((await all).match(/HTTP\/1\.1 \d+|small|request\/invalid-http/g)).toEqual([
    'HTTP/1.1 200',
    'small',
    'HTTP/1.1 400',
    'request/invalid-http',
  ]);
});

test('a long answer is sent to its end, even if CONNECT follows its request', async () => {
  const { port, held } = await serve({});
  const socket = await open(port);
  ask(socket, '/held');
  const response = await waitFor(() => held[0]);
  const server = response.req.socket;
  socket.write(connectTo);
  await waitFor(() => server.isPaused());
  const piece = Buffer.alloc(largeBytes / 64);
  const pieces = Array.from({ length: 64 }, () => piece);
  const [all] = await Promise.all([allOf(socket), pipeline(Readable.from(pieces), response)]);
  expect(all.length).toBeGreaterThan(largeBytes);
  expect(all.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 405']);
});

const ofAddress = new OpenConnections(2);
test.each<[string, string, ConnectionCaps]>([
  ['all', 'MAX_CONNECTIONS', { all: 2 }],
  ['address', 'MAX_CONNECTIONS_PER_ADDRESS', { all: 100, admits: (socket) => ofAddress.admit(socket) }],
])(
  'the number of connections is limited (%s), and a connection that ends makes room',
  async (reason, setting, caps) => {
    const { port, metrics, warnings } = await serve({ caps });
    const [first, second] = [await open(port), await open(port)];
    expect(await Promise.all([first, second].map(outcome))).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK']);
    for (let nth = 0; nth < 2; nth++) expect(await outcome(await open(port))).toBe('closed');
    const { values } = await metrics.httpConnectionsRefused.get();
    expect(values).toEqual([{ labels: { reason }, value: 2 }]);
    const msg = `refused a connection: ${setting} allows no more`;
    expect(warnings).toMatchObject([{ msg, connections: 2, unlogged: 0 }]);
    const isOpen = async (count: number) =>
      (await metrics.httpConnectionsOpen.get()).values[0]?.value === count;
    expect(await isOpen(2)).toBe(true);
    expect(await outcome(second)).toBe('HTTP/1.1 200 OK');
    first.destroy();
    await waitFor(() => isOpen(1));
    await waitFor(async () => (await outcome(await open(port))) === 'HTTP/1.1 200 OK');
  },
);
