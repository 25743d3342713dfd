import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createLogger } from '@kith/base';
import { listConnections } from '@kith/contracts';
import { availableEngines, startEngines, waitFor } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import {
  type Answer,
  expectError,
  projectId,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
} from './harness.ts';

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A time in ms that is longer than any test. So a wait of this length never ends. */
const neverMs = 3_600_000;

/** Starts a gateway with a limit of 3 requests and a bus in this process. Also returns its log lines. */
async function startWith(redisPort: number, times: { patienceMs?: number; deadMs?: number }) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const test = await startTestGateway('embedded', {
    env: { RATE_LIMIT_SCALE: '0.03' },
    limiterStore: { kind: 'redis', url: `redis://:a-password@127.0.0.1:${redisPort}`, ...times },
    log: createLogger({ name: 'test', level: 'info', destination }),
  });
  const issuer = await serveIssuer(test.bus);
  await serveEcho(test.bus, listConnections);
  const token = await issuer.token();
  const list = (localAddress = '127.0.0.1') =>
    send(test.gateway.port, {
      path: `/${projectId}/connections`,
      headers: { authorization: `Bearer ${token}` },
      localAddress,
    });
  const redisLines = () => lines.filter((line) => line.includes('limits are counted'));
  const isDegraded = async () =>
    (await test.runtime.metrics.registry.metrics()).includes('\nkith_limiter_degraded 1\n');
  return { test, list, lines, redisLines, isDegraded };
}

async function expectLimitedInMemory(list: () => Promise<Answer>): Promise<void> {
  for (let left = 2; left >= 0; left--) {
    const answer = await list();
    expect(answer.status).toBe(200);
    expect(answer.headers['x-ratelimit-remaining']).toBe(String(left));
  }
  const refused = await list();
  expectError(refused, 'rate-limit/exceeded');
  const wait = Number(refused.headers['retry-after']);
  expect(wait).toBeGreaterThan(280);
  expect(wait).toBeLessThanOrEqual(300);
}

describe('limits without Redis', () => {
  it('are counted in memory if nothing listens at the address, and this is logged once', async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    await once(server, 'close');
    const { test, list, lines, redisLines } = await startWith(port, { patienceMs: neverMs });
    await using _ = test;
    await expectLimitedInMemory(list);
    expect(redisLines()).toHaveLength(1);
    expect(lines.join()).not.toContain('a-password');
  });

  it('are counted in memory if Redis accepts connections but never answers', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      tolerateReset(socket);
    });
    const port = await listen(server);
    const { test, list, redisLines } = await startWith(port, { patienceMs: neverMs, deadMs: 200 });
    await waitFor(() => sockets.size > 0, { what: 'a connection' });
    await expectLimitedInMemory(list);
    expect(redisLines()).toHaveLength(1);
    await test[Symbol.asyncDispose]();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});

describe.each(availableEngines().filter((engine) => engine === 'containers'))(
  'a Redis that hangs, on %s',
  () => {
    it.each([
      ['a request waits a little, and is then counted without Redis', { patienceMs: 3_000, deadMs: neverMs }],
      ['no request waits once the connection counts as dead', { patienceMs: neverMs }],
    ])('%s, and Redis is used again when it answers again', async (_, times) => {
      await using engines = await startEngines();
      const redis = new URL(engines.redisUrl);
      const sockets = new Set<Socket>();
      let hangs = false;
      const proxy = createServer((inside) => {
        const outside = connect(Number(redis.port || 6379), redis.hostname);
        for (const [from, to] of [
          [inside, outside],
          [outside, inside],
        ] as const) {
          sockets.add(from);
          from.on('data', (chunk) => to.write(chunk));
          if (hangs) from.pause();
          tolerateReset(from);
          from.on('close', () => {
            to.destroy();
            sockets.delete(from);
          });
        }
      });
      const { test, list, redisLines, isDegraded } = await startWith(await listen(proxy), times);
      // Waits until requests are counted in Redis. These requests come from another address than the requests below, so that
      // they do not use up the limit of the requests below.
      await waitFor(async () => {
        await list('127.0.0.1');
        return redisLines().length === 0 || redisLines().at(-1)?.includes('again');
      });
      const logged = redisLines().length;
      hangs = true;
      for (const socket of sockets) socket.pause();
      const answers = [];
      for (let n = 0; n < 12; n++) answers.push(await list('127.0.0.9'));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
      expect(redisLines()).toHaveLength(logged + 1);
      expect(await isDegraded()).toBe(true);
      hangs = false;
      for (const socket of sockets) socket.resume();
      // The metrics show that Redis works again, even before the next request.
      await waitFor(async () => !(await isDegraded()), { what: 'the end of the degradation' });
      expect(redisLines()).toHaveLength(logged + 2);
      expect((await list('127.0.0.8')).headers['x-ratelimit-remaining']).toBe('2');
      expect(redisLines()).toHaveLength(logged + 2);
      await test[Symbol.asyncDispose]();
      for (const socket of sockets) socket.destroy();
      proxy.close();
    });
  },
);

/** Ignores resets, because the gateway drops connections that it gives up. */
function tolerateReset(socket: Socket): void {
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (!['ECONNRESET', 'EPIPE'].includes(error.code ?? '')) throw error;
  });
}
