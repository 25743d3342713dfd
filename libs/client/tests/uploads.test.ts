// Starts at most 1 platform and 1 process.
import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestPlatform } from '@kith/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createClient, type UploadProgress } from '../src/index.ts';
import { unlessAborted } from '../src/wait.ts';
import { settled } from './support/settled.ts';
import { reach, startLimited } from './support/world.ts';

const run = promisify(execFile);
const mebibyte = 1024 * 1024;

describe.concurrent('uploads from Node', () => {
  let platform: TestPlatform;
  let folder: string;
  beforeAll(async () => {
    platform = await startLimited('embedded');
    folder = await mkdtemp(join(tmpdir(), 'kith-client-uploads-'));
  });
  afterAll(async () => {
    await platform.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('reads a file from the disk while it is sent', async ({ expect }) => {
    await using world = await reach(platform);
    const kith = await world.clientOf();
    const path = join(folder, 'large.bin');
    await writeFile(path, Buffer.alloc(20 * mebibyte, 'kith'));
    const sizes: (number | undefined)[] = [];
    const { originalSize, name } = await kith.storage.createFile(
      { file: await openAsBlob(path), name: 'large.bin' },
      { onProgress: ({ loaded, total }) => sizes.push(loaded, total) },
    );
    expect([originalSize, name]).toEqual([20 * mebibyte, 'large.bin']);
    // Progress is reported in many steps, not in one.
    expect(sizes.length).toBeGreaterThan(20);
    expect(sizes.slice(-2)).toEqual([20 * mebibyte, 20 * mebibyte]);
  });

  it('reports the progress of an empty file', async ({ expect }) => {
    await using world = await reach(platform);
    const kith = await world.clientOf();
    const told: UploadProgress[] = [];
    await kith.storage.createFile(
      { file: new Uint8Array() },
      { onProgress: (progress) => told.push(progress) },
    );
    expect(told).toEqual([{ loaded: 0, total: 0 }]);
  });

  it('accepts any name for a file, and sends the part of the name that can be stored', async ({ expect }) => {
    await using world = await reach(platform);
    const kith = await world.clientOf();
    const stored = async (name: string) =>
      (await kith.storage.createFile({ file: new Blob(['bytes']), name })).name;
    const names = ['a\\', 'b\u0001\t\u007f.txt', 'c\r\n.txt', 'd\\e "f".txt', '', '\u0001', '/'];
    const all = await Promise.all(names.map(stored));
    expect(all).toEqual(['a', 'b.txt', 'c.txt', 'e "f".txt', 'file', 'file', 'file']);
  });

  it('sends a stream of unknown length while its bytes arrive', async ({ expect }) => {
    await using world = await reach(platform);
    const kith = await world.clientOf();
    let isTold = false;
    const { promise: told, resolve } = Promise.withResolvers<void>();
    const file = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new Uint8Array(mebibyte));
        // The stream gives its second part only after the client has sent the first part.
        await told;
        controller.enqueue(new Uint8Array(mebibyte));
        controller.close();
      },
    });
    const { originalSize } = await kith.storage.createFile(
      { file },
      {
        onProgress({ total }) {
          isTold ||= total === undefined;
          resolve();
        },
      },
    );
    expect([originalSize, isTold]).toEqual([2 * mebibyte, true]);
  });

  it('does not send a stream again after a part of it was read', async ({ expect }) => {
    await using world = await reach(platform);
    const { session } = await world.control.person();
    const accessToken = `${session.accessToken.slice(0, -8)}AAAAAAAA`;
    const kith = createClient({ ...world, session: { ...session, accessToken } });
    const stream = () => new Blob([new Uint8Array(mebibyte)]).stream();
    await world.control.seen();
    expect(await settled(kith.storage.createFile({ file: stream() }))).toMatchObject({
      code: 'auth/unauthorized',
    });
    const lines = (await world.control.seen()).map(({ line }) => line.split('/').at(-1));
    expect(lines).toEqual(['files', 'request-new-access-token']);
    // The client now has a new token, so the next upload is not refused.
    expect(await kith.storage.createFile({ file: stream() })).toMatchObject({ originalSize: mebibyte });
    const body = JSON.stringify({ error: 'Too many.', code: 'rate-limit/exceeded' });
    await world.control.seen();
    await world.control.fault({ match: 'POST', times: 1, how: { status: 429, body } });
    expect(await settled(kith.storage.createFile({ file: stream() }))).toMatchObject({ status: 429 });
    expect(await world.control.seen()).toHaveLength(1);
  });

  it('stores nothing of a source that fails, and cancels a source that is no longer read', async ({
    expect,
  }) => {
    await using world = await reach(platform);
    const kith = await world.clientOf();
    let pulls = 0;
    const failing = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (++pulls > 3) controller.error(new Error('the disk is gone'));
        else controller.enqueue(new Uint8Array(mebibyte));
      },
    });
    const outcome = await kith.storage.createFile({ file: failing }).catch((error: unknown) => error);
    expect(outcome).toMatchObject({ name: 'KithNetworkError', isTimeout: false });

    const controller = new AbortController();
    const { promise: cancelled, resolve } = Promise.withResolvers<void>();
    const endless = new ReadableStream<Uint8Array>({
      pull: (stream) => stream.enqueue(new Uint8Array(1024)),
      cancel: () => resolve(),
    });
    const onProgress = () => controller.abort(new Error('enough'));
    const { signal } = controller;
    const sent = kith.storage.createFile({ file: endless }, { signal, onProgress });
    await expect(sent).rejects.toThrow('enough');
    await cancelled;
    expect((await kith.storage.listFiles()).total).toBe(0);
  });

  it('never completes the form of an incomplete file, even if fetch ignores the signal', async ({
    expect,
  }) => {
    await using world = await reach(platform);
    const { session } = await world.control.person();
    const controller = new AbortController();
    const { signal } = controller;
    let status: Promise<number> | undefined;
    const kith = createClient({
      ...world,
      session,
      fetch(address, init) {
        if (init.method === 'GET') return fetch(address, init);
        const { signal: _, ...others } = init;
        const answer = fetch(address, others);
        status = answer.then((response) => response.status);
        return unlessAborted(answer, signal);
      },
    });
    const endless = new ReadableStream<Uint8Array>({
      pull: (stream) => stream.enqueue(new Uint8Array(1024)),
    });
    const onProgress = () => controller.abort(new Error('enough'));
    await expect(kith.storage.createFile({ file: endless }, { signal, onProgress })).rejects.toThrow(
      'enough',
    );
    expect(await status).toBe(400);
    expect((await kith.storage.listFiles()).total).toBe(0);
  });

  it('ends a download when its signal is aborted, and leaves no listeners on the signal', async ({
    expect,
  }) => {
    await using world = await reach(platform);
    const kith = await world.clientOf();
    const controller = new AbortController();
    const { signal } = controller;
    const { fileId } = await kith.storage.createFile({ file: new Uint8Array(20 * mebibyte) });
    const whole = await kith.storage.getFile({ fileId }, { signal });
    expect((await whole.arrayBuffer()).byteLength).toBe(20 * mebibyte);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    const part = await kith.storage.getFile({ fileId }, { signal });
    controller.abort(new Error('left the page'));
    await expect(part.arrayBuffer()).rejects.toThrow('left the page');
  });

  it('leaves nothing running after a refusal that came before all bytes were sent', async ({ expect }) => {
    await using world = await reach(platform);
    const { session } = await world.control.person();
    const options = { url: platform.url, projectId: world.projectId, session };
    const script = `
      const { createClient } = await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url))});
      const kith = createClient(${JSON.stringify(options)});
      const { code } = await kith.storage.createImage({ file: new Uint8Array(${20 * mebibyte}) }).catch((error) => error);
      console.log(code);`;
    // The process has to end by itself within 20 s, otherwise it is killed. If the upload were still running, it would time out
    // only later.
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 20_000,
    });
    expect(stdout.trim()).toBe('storage/invalid-image');
  });
});
