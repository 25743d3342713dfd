import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { listConnections } from '@kith/contracts';
import { createLogger } from '@kith/service';
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

/** A gateway with a limit of 3, over a bus in this process, and its log lines. */
async function startWith(redisPort: number) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const test = await startTestGateway('embedded', {
    env: { RATE_LIMIT_SCALE: '0.03' },
    limiterStore: { kind: 'redis', url: `redis://:a-password@127.0.0.1:${redisPort}` },
    log: createLogger({ name: 'test', level: 'info', destination }),
  });
  const issuer = await serveIssuer(test.bus);
  await serveEcho(test.bus, listConnections);
  const token = await issuer.token();
  const list = async (localAddress = '127.0.0.1'): Promise<Answer & { ms: number }> => {
    const started = performance.now();
    const headers = { authorization: `Bearer ${token}` };
    const answer = await send(test.gateway.port, {
      path: `/${projectId}/connections`,
      headers,
      localAddress,
    });
    return { ...answer, ms: performance.now() - started };
  };
  const redisLines = () => lines.filter((line) => line.includes('limits are counted'));
  return { test, list, lines, redisLines };
}

async function expectLimitedInMemory(list: () => Promise<Answer & { ms: number }>): Promise<void> {
  for (let left = 2; left >= 0; left--) {
    const answer = await list();
    expect(answer.status).toBe(200);
    expect(answer.headers['x-ratelimit-remaining']).toBe(String(left));
    expect(answer.ms).toBeLessThan(250);
  }
  const refused = await list();
  expectError(refused, 'rate-limit/exceeded');
  expect(refused.headers['retry-after']).toBe('300');
}

describe('limits without Redis', () => {
  it('goes on in memory when nobody listens, and says so once', async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    await once(server, 'close');
    const { test, list, lines, redisLines } = await startWith(port);
    await using _ = test;
    await expectLimitedInMemory(list);
    expect(redisLines()).toHaveLength(1);
    expect(lines.join()).not.toContain('a-password');
  });

  it('goes on in memory when Redis takes connections and never answers', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    });
    const port = await listen(server);
    const { test, list, redisLines } = await startWith(port);
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
    it('costs a request little, then nothing, and is used again when it is back', async () => {
      await using engines = await startEngines();
      const redis = new URL(engines.redisUrl);
      const pairs = new Set<[Socket, Socket]>();
      let hangs = false;
      const proxy = createServer((inside) => {
        const outside = connect(Number(redis.port || 6379), redis.hostname);
        const pair: [Socket, Socket] = [inside, outside];
        pairs.add(pair);
        for (const [from, to] of [pair, [outside, inside]] as const) {
          from.on('data', (chunk) => {
            if (!hangs) to.write(chunk);
          });
          from.on('error', () => undefined);
          from.on('close', () => {
            to.destroy();
            pairs.delete(pair);
          });
        }
      });
      const { test, list, redisLines } = await startWith(await listen(proxy));
      const shared = async (address: string) => (await list(address)).headers['x-ratelimit-remaining'];
      // A client of its own each time: what is waited for is where it is counted, which the log tells.
      await waitFor(async () => {
        await shared('127.0.0.1');
        return redisLines().length === 0 || redisLines().at(-1)?.includes('again');
      });
      const logged = redisLines().length;
      hangs = true;
      const answers = [];
      for (let n = 0; n < 12; n++) answers.push(await list('127.0.0.9'));
      for (const { ms } of answers) expect(ms).toBeLessThan(250);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
      expect(redisLines()).toHaveLength(logged + 1);
      hangs = false;
      await waitFor(async () => {
        await shared('127.0.0.8');
        return redisLines().length === logged + 2;
      });
      await test[Symbol.asyncDispose]();
      for (const [inside] of pairs) inside.destroy();
      proxy.close();
    });
  },
);
