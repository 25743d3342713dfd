// Starts at most 2 platforms and 11 processes.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { handlerEngines, startPlatform } from '@kith/testing';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
/** A loopback address that nothing else uses. Only Linux has such addresses without further settings. */
const host = `127.${1 + (process.pid % 250)}.${1 + (Date.now() % 250)}.1`;
const isLinux = process.platform === 'linux';

/** Whether this process may listen on a port. Low ports often need an additional right. */
async function mayListen(port: number): Promise<boolean> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

describe.runIf(isLinux).each(handlerEngines())('a platform at one address (%s)', (engine) => {
  it('can be reached at this address, even after its gateway has started again', async () => {
    // 80 is the usual port of HTTP, so URLs do not contain it. If this process may use port 80, the test covers such a URL,
    // too.
    const ADMIN_PORT = (await mayListen(80)) ? '80' : '0';
    const env = { HOST: host, INTERNAL_HOST: host, ADMIN_PORT };
    await using platform = await startPlatform({ engine, env });
    const { processes, url, adminUrl, operatorToken: token } = platform;
    const check = async () => {
      for (const internal of platform.internalUrls) {
        expect(new URL(internal).hostname).toBe(host);
        expect((await fetch(`${internal}/healthz`)).status).toBe(200);
      }
      const statusAt = async (at: string) =>
        (await fetch(`${at}/admin/projects`, { headers: { authorization: `Bearer ${token}` } })).status;
      expect([await statusAt(adminUrl), await statusAt(url)]).toEqual([200, 404]);
    };
    await check();
    if (!processes) return;
    await processes.process('gateway')?.kill();
    await processes.start('gateway');
    expect([processes.url, processes.adminUrl]).toEqual([url, adminUrl]);
    await expect.poll(() => check().then(() => 'well', String), { timeout: 60_000 }).toBe('well');
  }, 180_000);
});

describe.runIf(isLinux)('the health check of an image', () => {
  it('asks at the address where the process listens, even if the address is in a file (as with INTERNAL_PORT_FILE)', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-health-'));
    const asked: string[] = [];
    const server = createServer((socket) => {
      socket.once('data', (head) => {
        asked.push(String(head).split(' ')[1] ?? '');
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      });
    }).listen(0, host);
    await once(server, 'listening');
    const [hostFile, portFile] = [join(folder.path, 'host'), join(folder.path, 'port')];
    await writeFile(hostFile, `${host}\n`);
    await writeFile(portFile, `${(server.address() as AddressInfo).port}\n`);
    const check = (env: NodeJS.ProcessEnv) =>
      run(process.execPath, ['tools/healthcheck.mjs'], { env }).then(
        () => 0,
        ({ code }) => code as number,
      );
    const byPort = { INTERNAL_PORT_FILE: portFile };
    expect(await check({ ...byPort, INTERNAL_HOST: host })).toBe(0);
    expect(await check({ ...byPort, INTERNAL_HOST_FILE: hostFile, INTERNAL_PORT: '' })).toBe(0);
    expect(asked).toEqual(['/readyz', '/readyz']);
    expect(await check({ ...byPort, INTERNAL_HOST: '127.0.0.1' })).toBe(1);
    server.close();
  });
});
