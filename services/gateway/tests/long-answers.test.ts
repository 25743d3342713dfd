import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { statusHeader } from '@kith/bus';
import { waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longBytes } from '../src/upstreams/byte-agent.ts';
import { projectId, startTestGateway, type TestGateway } from './harness.ts';
import { listen } from './support/listen.ts';

/** What a service does with a connection once it has read the head of a request. */
type Answer = (socket: Socket, head: string) => Promise<void>;

describe('a long answer of a file service', () => {
  const undo = new AsyncDisposableStack();
  const open = new Set<Socket>();
  let upstream: Server;
  let url: string;
  let answer: Answer;

  beforeAll(async () => {
    upstream = createServer((socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => undefined);
      socket.on('data', (head) => void answer(socket, head.toString()));
    });
    const at = await listen(upstream);
    undo.defer(() => {
      for (const socket of open) socket.destroy();
      upstream.close();
    });
    const env = {
      KITH_SECRET: 'the secret that these suites sign with',
      UPSTREAMS: `storage=${at}`,
    };
    const gateway: TestGateway = undo.use(await startTestGateway('embedded', { env }));
    url = `http://127.0.0.1:${gateway.gateway.port}/v7/${projectId}/storage/files/${randomUUID()}`;
  });
  afterAll(() => undo.disposeAsync());

  const headOf = (length: number) =>
    `HTTP/1.1 200 OK\r\n${statusHeader}: 200\r\nContent-Type: text/plain\r\nContent-Length: ${length}\r\n\r\n`;
  const write = (socket: Socket, bytes: Uint8Array | string) =>
    new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  /** Writes bytes in pieces of random size. */
  const pieces = async (socket: Socket, bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + randomInt(1, 300_000));
      at += piece.length;
      await write(socket, piece);
      await turn();
    }
  };

  it.each([longBytes - 1, longBytes, 3 * longBytes + 7])(
    'arrives as it was sent, even if eight answers arrive at the same time in random pieces: %i bytes',
    async (size) => {
      const sent = randomBytes(size);
      let count = 0;
      answer = async (socket) => {
        // In every second answer, the first bytes come with the head.
        const early = sent.subarray(0, 1_000 * (count++ % 2));
        await write(socket, Buffer.concat([Buffer.from(headOf(size)), early]));
        await pieces(socket, sent.subarray(early.length));
      };
      const one = async () => Buffer.from(await (await fetch(url)).arrayBuffer()).equals(sent);
      expect(await Promise.all(Array.from({ length: 8 }, one))).toEqual(Array(8).fill(true));
    },
  );

  it('is cut off if the service closes its connection early', async () => {
    answer = async (socket) => {
      await write(socket, headOf(4 * longBytes));
      await pieces(socket, randomBytes(2 * longBytes));
      socket.destroy();
    };
    const got = await fetch(url);
    expect(got.status).toBe(200);
    await expect(got.arrayBuffer()).rejects.toThrow();
  });

  it('is not read any further once the client is gone', async () => {
    for (const socket of open) socket.destroy();
    const size = 100 * longBytes;
    answer = async (socket) => {
      await write(socket, headOf(size));
      await pieces(socket, Buffer.alloc(size));
    };
    const stop = new AbortController();
    const got = await fetch(url, { signal: stop.signal });
    await got.body?.getReader().read();
    stop.abort();
    await waitFor(() => open.size === 0, { what: 'the end of the connection' });
    expect(open.size).toBe(0);
  });

  it('is not longer than its Content-Length', async () => {
    const sent = randomBytes(2 * longBytes);
    answer = async (socket) => {
      await write(socket, headOf(sent.length));
      await pieces(socket, Buffer.concat([sent, Buffer.from('HTTP/1.1 200 OK\r\n\r\n')]));
    };
    for (let round = 0; round < 2; round++) {
      const got = Buffer.from(await (await fetch(url)).arrayBuffer());
      expect(got.equals(sent)).toBe(true);
    }
  });

  it('is only its head if the request is a HEAD', async () => {
    answer = async (socket) => write(socket, headOf(5 * longBytes));
    const got = await fetch(url, { method: 'HEAD' });
    expect(got.headers.get('content-length')).toBe(String(5 * longBytes));
  });
});
