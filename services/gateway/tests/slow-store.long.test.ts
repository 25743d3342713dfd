// Quick counterpart: services/gateway/tests/shedding.test.ts
import { randomUUID } from 'node:crypto';
import { mkdtempDisposable } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setImmediate as immediate } from 'node:timers/promises';
import { Secrets } from '@kith/base';
import type { StoredFile } from '@kith/contracts';
import { startStorage } from '@kith/storage';
import { openStore } from '@kith/storage/testing';
import { type Blobs, openBlobs } from '@kith/store/blobs';
import { createStore, unfinishedIn, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filePart, multipart } from '../../../tests/support/multipart.ts';
import { projectId, serveIssuer, startTestGateway, type TestGateway, type TestIssuer } from './harness.ts';

const mebibyte = 1024 * 1024;
const secret = 'the secret that these suites sign with';
const boundary = 'the-boundary';
const idleMs = 3_000;
const piece = Buffer.alloc(256 * 1024, 'piece');
const pieces = 192;
/** A size that is much larger than the buffers of all sockets between client and store. */
const bound = 24 * mebibyte;

/** An upload that counts the bytes it has sent to the gateway. */
class Sender {
  sent = 0;
  readonly answer: Promise<IncomingMessage | undefined>;
  readonly #request: ClientRequest;

  constructor(port: number, token: string, path = `/v7/${projectId}/storage/files`) {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    };
    this.#request = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false });
    this.answer = new Promise((resolve) => {
      this.#request.on('response', resolve);
      this.#request.on('error', () => resolve(undefined));
    });
    const [head] = this.#form();
    this.#request.write(head);
  }

  /** Sends as fast as the gateway accepts bytes. */
  async send(count: number): Promise<void> {
    for (let at = 0; at < count; at++) {
      await new Promise<void>((resolve, reject) => {
        this.#request.write(piece, (error) => (error ? reject(error) : resolve()));
      });
      this.sent += piece.length;
    }
  }

  finish(): Promise<IncomingMessage | undefined> {
    this.#request.end(this.#form()[1]);
    return this.answer;
  }

  leave(): void {
    this.#request.destroy();
  }

  #form(): [string, string] {
    const [head = '', tail = ''] = multipart([filePart('|')], boundary)
      .body.toString()
      .split('|');
    return [head, tail];
  }
}

describe('a store that takes bytes slowly', () => {
  const undo = new AsyncDisposableStack();
  const owner = { projectId, userId: randomUUID() };
  let gateway: TestGateway;
  let issuer: TestIssuer;
  let store: Awaited<ReturnType<typeof openStore>>;
  let blobs: Blobs;
  let folder: string;
  /** While this promise is pending, the file store accepts nothing after the first bytes of each file. */
  let gate: PromiseWithResolvers<void>;

  beforeAll(async () => {
    gateway = undo.use(await startTestGateway('embedded'));
    issuer = await serveIssuer(gateway.bus);
    undo.defer(() => issuer.stop());
    folder = undo.use(await mkdtempDisposable(join(tmpdir(), 'kith-slow-'))).path;
    const home = { kind: 'folder', folder: join(folder, 'files') } as const;
    blobs = await openBlobs(home);
    const slow = Object.assign(await openBlobs(home), {
      put: (...[key, source, options]: Parameters<Blobs['put']>) => blobs.put(key, slowly(source), options),
    });
    const place = undo.use(await createStore('embedded'));
    const service = undo.use(
      await startStorage(gateway.runtime, {
        ...{ store: place.config, blobs: slow, draftFolder: join(folder, 'drafts') },
        http: { host: '127.0.0.1', port: 0, secrets: new Secrets(secret) },
        quotas: { projectBytes: 1000 * mebibyte, userBytes: 1000 * mebibyte },
      }),
    );
    store = undo.adopt(await openStore(place.config), (opened) => opened.close());
    const env = {
      KITH_SECRET: secret,
      UPLOAD_IDLE_MS: String(idleMs),
      UPSTREAMS: `storage=${service.httpUrl}`,
    };
    await gateway.gateway.stop();
    port = (await gateway.another({ env })).port;
  });
  afterAll(() => undo.disposeAsync());
  let port: number;

  async function* slowly(source: AsyncIterable<Uint8Array>) {
    let isFirst = true;
    for await (const chunk of source) {
      if (!isFirst) await gate.promise;
      isFirst = false;
      yield chunk;
    }
  }

  const token = () => issuer.token({ sub: owner.userId });
  /** Begins an upload, sends nothing more, and waits until the gateway refuses the upload. */
  const slowSenderIsRefused = async () => {
    const idle = new Sender(port, await token());
    const answer = await idle.answer;
    expect([answer?.statusCode, await json(answer!)]).toEqual([
      408,
      expect.objectContaining({ code: 'request/timeout' }),
    ]);
  };
  /**
   * Sends an upload until the gateway accepts no more bytes. The gateway counts as full if it accepts nothing for as long as it
   * would wait for a slow sender.
   */
  const held = async () => {
    gate = Promise.withResolvers();
    const sender = new Sender(port, await token());
    const sending = sender.send(pieces);
    sending.catch(() => undefined);
    await waitFor(async () => (await unfinishedIn(join(folder, 'files'))) > 0, { what: 'the first bytes' });
    for (let before = -1; before < sender.sent; ) {
      before = sender.sent;
      await slowSenderIsRefused();
    }
    return { sender, sending };
  };

  it('gets no more bytes than it takes, and gets the whole file after it continues', async () => {
    const { sender, sending } = await held();
    expect(sender.sent).toBeLessThan(bound);
    gate.resolve();
    await sending;
    const answer = await sender.finish();
    expect(answer?.statusCode).toBe(201);
    const { fileId, originalSize } = (await json(answer!)) as StoredFile;
    expect(originalSize).toBe(pieces * piece.length);
    const stored = await fetch(`http://127.0.0.1:${port}/v7/${projectId}/storage/files/${fileId}`);
    const sent = Buffer.concat(Array.from({ length: pieces }, () => piece));
    expect(Buffer.from(await stored.arrayBuffer()).equals(sent)).toBe(true);
    await blobs.removeAll(`${projectId}/`);
  }, 60_000);

  it('keeps no data of a client that disconnects while the store accepts no bytes', async () => {
    const { sender } = await held();
    sender.leave();
    const left = async () => {
      const keys: string[] = [];
      for await (const { key } of blobs.list()) keys.push(key);
      const { doc } = await store.account(owner);
      return { keys, loose: doc.loose, unfinished: await unfinishedIn(join(folder, 'files')) };
    };
    const isGone = async () => {
      const { keys, loose, unfinished } = await left();
      return keys.length + loose.length + unfinished === 0;
    };
    // To notice that the client has gone, the gateway has to read the socket again. So the store has to accept bytes again.
    gate.resolve();
    await waitFor(isGone, { what: 'nothing left' });
    expect(await left()).toEqual({ keys: [], loose: [], unfinished: 0 });
    expect((await store.account(owner)).doc.files).toBe(1);
  }, 60_000);

  it('a sender is not refused if the gateway itself was stopped for longer than a sender may pause', async () => {
    gate = Promise.withResolvers();
    gate.resolve();
    const sender = new Sender(port, await token());
    await sender.send(1);
    await waitFor(async () => (await unfinishedIn(join(folder, 'files'))) > 0, { what: 'the first bytes' });
    // Stops this process after `setImmediate`. From there, the timers run before the sockets are read.
    await immediate();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * idleMs);
    const answer = await sender.finish();
    expect(answer?.statusCode).toBe(201);
    await answer?.resume().toArray();
    await blobs.removeAll(`${projectId}/`);
  });
});
