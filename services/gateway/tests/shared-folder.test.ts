import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createLogger, folderIdFile } from '@kith/base';
import { statusHeader } from '@kith/bus';
import { folderHeader, storedHeader } from '@kith/service';
import { waitFor } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { projectId, startTestGateway } from './harness.ts';
import { listen } from './support/listen.ts';

const someId = '3f0e2a52-7d3b-4f0c-9a51-1c2d3e4f5a6b';
const folderId = 'the id of the folder';
const key = `${projectId}/user/${someId}/original.bytes`;

// The bytes in the folder differ from the bytes that the service sends, so an answer shows whether the gateway or the service
// has read the file.
describe('a download from a folder that gateway and service share', () => {
  const undo = new AsyncDisposableStack();
  const bytes = randomBytes(3_000_000);
  const ofService = 'from the service';
  /** For each request that the service got, the id of the folder that the gateway has named. */
  const named: IncomingMessage['headers'][string][] = [];
  let folder: string;
  let upstream: Server;
  let place: string;
  let url: string;
  let failures: () => Promise<number>;
  const lines: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-shared-'));
    undo.defer(() => rm(folder, { recursive: true }));
    upstream = createServer(({ headers, method }, response) => {
      named.push(headers[folderHeader]);
      const isShared = headers[folderHeader] === folderId && method === 'GET';
      const of = isShared ? { [storedHeader]: place } : {};
      response.writeHead(200, {
        ...of,
        [statusHeader]: '200',
        'Content-Type': 'text/plain',
        'Content-Length': isShared ? 0 : ofService.length,
      });
      response.end(isShared ? undefined : ofService);
    });
    const at = await listen(upstream);
    undo.defer(() => {
      upstream.close();
      upstream.closeAllConnections();
    });
    const env = {
      KITH_SECRET: 'the secret that these suites sign with',
      RATE_LIMIT_SCALE: '0',
      UPSTREAMS: `storage=${at}`,
      STORAGE_FOLDER: folder,
    };
    const destination = { write: (line: string) => void lines.push(line) };
    const log = createLogger({ name: 'test', level: 'info', destination });
    const { gateway, runtime } = undo.use(await startTestGateway('embedded', { env, log }));
    failures = async () => {
      const { values } = await runtime.metrics.upstreamFailures.get();
      return values.find(({ labels }) => labels.reason === 'unreadable_file')?.value ?? 0;
    };
    url = `http://127.0.0.1:${gateway.port}/v7/${projectId}/storage/files/${someId}`;
  });
  afterAll(() => undo.disposeAsync());
  beforeEach(() => {
    named.length = 0;
    place = `${key} ${bytes.length}`;
  });

  const read = async () => Buffer.from(await (await fetch(url)).arrayBuffer());
  const asked = async () => (await read()).toString();

  it('comes from the service as long as the folder has no id', async () => {
    expect(await asked()).toBe(ofService);
    expect(named).toEqual([undefined]);
    await writeFile(join(folder, folderIdFile), folderId);
    await mkdir(dirname(join(folder, key)), { recursive: true });
    await writeFile(join(folder, key), bytes);
  });

  it.each([
    ['all bytes', '', [0, bytes.length]],
    ['a range', ' 1000000 1999999', [1_000_000, 2_000_000]],
    ['the last byte', ` ${bytes.length - 1} ${bytes.length - 1}`, [bytes.length - 1, bytes.length]],
  ] as const)('is read by the gateway: %s', async (_, range, [start, end]) => {
    place = `${key} ${end - start}${range}`;
    const all = await Promise.all(Array.from({ length: 4 }, read));
    expect(all.every((one) => one.equals(bytes.subarray(start, end)))).toBe(true);
    expect(named).toEqual(Array(4).fill(folderId));
  });

  it('has a length, and its connection takes the next request', async () => {
    const { headers, body } = await fetch(url);
    await body?.cancel();
    expect(headers.get('content-length')).toBe(String(bytes.length));
    expect(headers.get('content-type')).toBe('text/plain');
    expect(headers.has(storedHeader)).toBe(false);
  });

  it.each([
    ['a key that is not there', 'no/such/file 10'],
    ['a key outside of the folder', `../${folderIdFile} 10`],
    ['the file with the id', `${folderIdFile} 10`],
  ])('comes from the service if the gateway cannot read the bytes: %s', async (_, text) => {
    place = text;
    expect(await asked()).toBe(ofService);
    expect(named).toEqual([folderId, undefined]);
  });

  it.each([
    ['shorter', 1],
    ['longer', -1],
  ])('is cut off, logged and counted if the file is %s than the service has said', async (_, more) => {
    place = `${key} ${bytes.length + more}`;
    const before = await failures();
    const answer = await fetch(url);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    await waitFor(async () => (await failures()) > before, { what: 'the failure to be counted' });
    expect(await failures()).toBe(before + 1);
    // The log has one line a minute for all failures of a kind.
    expect(lines.filter((line) => line.includes('unreadable_file'))).toEqual([expect.stringContaining(key)]);
  });

  it.runIf(process.platform === 'linux')('its file is closed once the client is gone', async () => {
    const large = `${projectId}/user/${someId}/large`;
    await writeFile(join(folder, large), Buffer.alloc(50_000_000));
    place = `${large} 50000000`;
    const isOpen = async () => {
      const descriptors = await readdir('/proc/self/fd');
      const paths = await Promise.all(
        descriptors.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => '')),
      );
      return paths.includes(join(folder, large));
    };
    const stop = new AbortController();
    const answer = await fetch(url, { signal: stop.signal });
    await answer.body?.getReader().read();
    expect(await isOpen()).toBe(true);
    stop.abort();
    await waitFor(async () => !(await isOpen()), { what: 'the file to be closed' });
    expect(await isOpen()).toBe(false);
  });

  it('if the request is a HEAD, the answer comes from the service', async () => {
    const { headers } = await fetch(url, { method: 'HEAD' });
    expect(headers.get('content-length')).toBe(String(ofService.length));
  });

  it('gives 503 if the service is gone', async () => {
    upstream.closeAllConnections();
    upstream.close();
    await once(upstream, 'close');
    expect((await fetch(url)).status).toBe(503);
  });
});
