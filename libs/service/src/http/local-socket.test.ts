import { once } from 'node:events';
import { access, mkdtemp, rename, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, Metrics, readConfig, Secrets } from '@kith/base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { httpConfig, longestSocketPath } from '../config/common.ts';
import { serveHttp } from './http-intake.ts';
import { socketOf, socketPath } from './local-socket.ts';

const options = {
  ...{ host: '127.0.0.1', port: 0, secrets: new Secrets('a secret of at least 32 characters') },
  ...{ handlers: [], app: {}, metrics: new Metrics(), checkOutput: true },
  log: createLogger({ name: 'test', level: 'silent' }),
};

/** The status of the answer to a request that no gateway has signed. */
async function statusAt(url: string): Promise<number | undefined> {
  const outgoing = request({ socketPath: socketPath(socketOf(url) ?? ''), path: '/' }).end();
  const [incoming] = await once(outgoing, 'response');
  incoming.resume();
  return incoming.statusCode;
}

describe('a Unix socket for bytes', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-socket-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is served where a killed process has left its file, and is gone at the end', async () => {
    const socket = join(folder, 'storage.sock');
    const killed = createServer().listen(socket);
    await once(killed, 'listening');
    await rename(socket, `${socket}.left`);
    killed.close();
    await rename(`${socket}.left`, socket);

    const intake = await serveHttp({ ...options, socket });
    expect(intake.url).toBe(`unix:${socket}`);
    expect(await statusAt(intake.url)).toBe(403);
    await intake.drain(0);
    await expect(access(socket)).rejects.toThrow('ENOENT');
  });

  it('is refused by name where another process listens, which goes on', async () => {
    const socket = join(folder, 'storage.sock');
    const first = await serveHttp({ ...options, socket });
    await expect(serveHttp({ ...options, socket })).rejects.toThrow(`HTTP_SOCKET: ${socket} `);
    expect(await statusAt(first.url)).toBe(403);
    await first.drain(0);
  });

  it.runIf(platform() === 'linux')('needs no file on Linux', async () => {
    const intake = await serveHttp({ ...options, socket: `@kith-test-${process.pid}` });
    expect(await statusAt(intake.url)).toBe(403);
    await intake.drain(0);
  });

  it.each(['storage.sock', '@', `/${'a'.repeat(longestSocketPath)}`])('cannot be %s', (socket) => {
    const env = { KITH_SECRET: 'a secret of at least 32 characters', HTTP_SOCKET: socket };
    expect(() => readConfig(httpConfig, env)).toThrow('HTTP_SOCKET: ');
  });
});
