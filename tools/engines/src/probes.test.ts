import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { isReady, untilReady } from './probes.ts';

/** A server that answers every message with the same bytes. */
async function answering(answer: string): Promise<AsyncDisposable & { port: number }> {
  const server = createServer((socket) => socket.on('data', () => socket.write(answer, 'latin1')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

test.each([
  ['+PONG\r\n', true],
  ['-LOADING Redis is loading the dataset in memory\r\n', false],
  ['-NOAUTH Authentication required.\r\n', false],
])('if Redis answers %j, it counts as ready: %j', async (answer, ready) => {
  await using server = await answering(answer);
  expect(await isReady('redis', { client: server.port })).toBe(ready);
});

test('MongoDB is ready if `ok` in its answer is 1', async () => {
  await using server = await answering('\x01ok\0\0\0\0\0\0\0\xf0\x3f\0');
  expect(await isReady('mongo', { client: server.port })).toBe(true);
});

test('the wait rejects if the engine has ended', async () => {
  const ended = untilReady('redis', { client: 1 }, { alive: async () => false });
  await expect(ended).rejects.toThrow('redis ended while it was starting');
});
