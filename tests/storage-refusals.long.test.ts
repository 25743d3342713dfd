// Quick counterpart: services/gateway/tests/files-over-http.test.ts
// Starts at most 3 platforms and 10 processes.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ErrorCode, maxFileBytes, statusOf } from '@kith/contracts';
import { type Blobs, type BlobsConfig, openBlobs } from '@kith/store/blobs';
import {
  availableBlobHomes,
  type BlobHomeKind,
  engineOfHome,
  looseChunks,
  startPlatform,
  startS3,
  type TestPlatform,
  type TestUser,
  unfinishedIn,
  waitFor,
} from '@kith/testing';
import { MongoClient } from 'mongodb';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filmOf } from './support/film.ts';
import { filePart, multipart, type Part, smallPng } from './support/multipart.ts';
import { scrape } from './support/scrape.ts';

const boundary = 'the-boundary';
const type = `multipart/form-data; boundary=${boundary}`;
const idleMs = 2_000;

/** What a test adds to the request line and the token of an upload. */
interface Sent {
  headers?: Record<string, string>;
  body?: Uint8Array | string | AsyncIterable<Uint8Array>;
  /** Whether the client closes the connection after it has sent `body`. */
  leaves?: true;
}

interface Case {
  to: 'images' | 'files' | 'both';
  what: string;
  sent: () => Sent | Promise<Sent>;
  /** The expected error code. `undefined` if the client closes the connection early, because then the client gets no answer. */
  code?: ErrorCode;
  /** A part of the expected sentence. */
  says?: string;
}

const form = (body: Uint8Array): Sent => ({
  headers: { 'content-type': type, 'content-length': String(body.length) },
  body,
});
const whole = (parts: readonly Part[]): Sent => form(multipart(parts, boundary).body);
const image = async () =>
  sharp({
    create: {
      width: 640,
      height: 480,
      channels: 3,
      background: 'teal',
      noise: { type: 'gaussian', mean: 99, sigma: 30 },
    },
  })
    .jpeg()
    .toBuffer();
const head = (name = 'file') =>
  Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="f"\r\n\r\n`);
async function* endless(first: Uint8Array, piece: Uint8Array, count: number): AsyncGenerator<Uint8Array> {
  yield first;
  for (let index = 0; index < count; index++) yield piece;
}
const chunked = { 'content-type': type, 'transfer-encoding': 'chunked' };
const filler = Buffer.alloc(1024 * 1024, 'x');

const cases: readonly Case[] = [
  {
    to: 'both',
    what: 'no body at all',
    sent: () => ({ headers: { 'content-type': type } }),
    code: 'storage/no-file',
  },
  { to: 'both', what: 'no part', sent: () => whole([]), code: 'storage/no-file' },
  {
    to: 'both',
    what: 'no part with the right name',
    sent: () => whole([{ ...filePart('x'), name: 'files' }]),
    code: 'storage/no-file',
  },
  {
    to: 'both',
    what: 'a field in place of the file',
    sent: () => whole([{ name: 'file', value: 'x' }]),
    code: 'storage/no-file',
  },
  {
    to: 'both',
    what: 'a form without a chosen file',
    sent: () => whole([{ ...filePart('', ''), type: 'application/octet-stream' }]),
    code: 'storage/no-file',
  },
  {
    to: 'both',
    what: 'bytes without a file name',
    sent: () => whole([{ name: 'file', value: smallPng, type: 'application/octet-stream' }]),
    code: 'storage/no-file',
  },
  {
    to: 'both',
    what: 'two parts',
    sent: () => whole([filePart(smallPng), filePart(smallPng)]),
    code: 'request/invalid-multipart',
  },
  {
    to: 'both',
    what: 'a field twice',
    sent: () => whole([{ name: 'a', value: '1' }, filePart(smallPng), { name: 'a', value: '1' }]),
    code: 'request/invalid-multipart',
  },
  {
    to: 'both',
    what: 'too many fields',
    sent: () =>
      whole([
        filePart(smallPng),
        ...Array.from({ length: 60 }, (_, index) => ({ name: `f${index}`, value: '1' })),
      ]),
    code: 'request/invalid-multipart',
  },
  {
    to: 'both',
    what: 'a form without its end',
    sent: () => form(multipart([filePart(smallPng)], boundary).body.subarray(0, -boundary.length - 6)),
    code: 'request/invalid-multipart',
  },
  {
    to: 'both',
    what: 'a form that ends in the middle of a file with another name',
    sent: () => form(Buffer.concat([head('x'), Buffer.from('abc')])),
    code: 'request/invalid-multipart',
  },
  {
    to: 'both',
    what: 'a second file that comes in many pieces and is incomplete',
    sent: () =>
      form(Buffer.concat([head(), smallPng, Buffer.from('\r\n'), head(), filler.subarray(0, 150_000)])),
    code: 'request/invalid-multipart',
  },
  {
    to: 'both',
    what: 'a file that begins with a boundary and has no end',
    sent: () => form(Buffer.concat([head(), Buffer.from(`--${boundary}\r\n--\r\n--${boundary}--\r\n`)])),
    code: 'request/invalid-multipart',
  },
  {
    to: 'both',
    what: 'no boundary',
    sent: () => ({
      ...whole([filePart('x')]),
      headers: { 'content-type': 'multipart/form-data', 'content-length': '9' },
      body: 'not a fo\n',
    }),
    code: 'request/invalid-multipart',
  },
  {
    to: 'both',
    what: 'another boundary',
    sent: () => {
      const { body = '' } = whole([filePart(smallPng)]);
      const headers = { 'content-type': `${type}-2`, 'content-length': String((body as Buffer).length) };
      return { headers, body: body as Buffer };
    },
    code: 'request/invalid-multipart',
  },
  {
    to: 'both',
    what: 'an endless header',
    sent: () => ({ headers: chunked, body: endless(Buffer.from(`--${boundary}\r\nX-Long: `), filler, 5) }),
    code: 'request/invalid-multipart',
  },
  {
    to: 'both',
    what: 'another type',
    sent: () => ({ headers: { 'content-type': 'application/json', 'content-length': '2' }, body: '{}' }),
    code: 'request/unsupported-media-type',
  },
  {
    to: 'both',
    what: 'no type',
    sent: () => ({ headers: { 'content-length': '2' }, body: '{}' }),
    code: 'request/unsupported-media-type',
  },
  {
    to: 'both',
    what: 'a file that is too large by its Content-Length',
    sent: () => ({
      headers: { 'content-type': type, 'content-length': String(2 * maxFileBytes) },
      body: endless(head(), filler, 3),
    }),
    code: 'storage/file-too-large',
  },
  {
    to: 'files',
    what: 'a file that turns out to be too large',
    sent: () => ({ headers: chunked, body: endless(head(), filler, 52) }),
    code: 'storage/file-too-large',
  },
  {
    to: 'images',
    what: 'an image that turns out to be too large',
    sent: async () => ({
      headers: chunked,
      body: endless(Buffer.concat([head(), await image()]), filler, 52),
    }),
    code: 'storage/file-too-large',
  },
  {
    to: 'images',
    what: 'text',
    sent: () => whole([filePart('This is no image.', 'a.png')]),
    code: 'storage/invalid-image',
  },
  {
    to: 'images',
    what: 'nothing',
    sent: () => whole([filePart('', 'a.png')]),
    code: 'storage/invalid-image',
  },
  {
    to: 'images',
    what: 'SVG',
    sent: () =>
      whole([filePart('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>', 'a.svg')]),
    code: 'storage/invalid-image',
  },
  {
    to: 'images',
    what: 'PDF',
    sent: () => whole([filePart('%PDF-1.7\n%âãÏÓ\n1 0 obj\n', 'a.png')]),
    code: 'storage/invalid-image',
  },
  {
    to: 'images',
    what: 'a TIFF',
    sent: async () => whole([filePart(await sharp(smallPng).tiff().toBuffer())]),
    code: 'storage/invalid-image',
  },
  {
    to: 'images',
    what: 'a page that begins as a GIF',
    sent: () => whole([filePart('GIF89a=1;/*<script>alert(1)</script>*/', 'a.gif')]),
    code: 'storage/invalid-image',
  },
  {
    to: 'images',
    what: 'a script that begins as a JPEG',
    sent: () =>
      whole([
        filePart(
          Buffer.concat([
            Buffer.from('ffd8ffe0', 'hex'),
            Buffer.from('/*<script>alert(1)</script>*/'.repeat(50)),
          ]),
        ),
      ]),
    code: 'storage/invalid-image',
  },
  {
    to: 'images',
    what: 'half a JPEG',
    sent: async () => {
      const bytes = await image();
      return whole([filePart(bytes.subarray(0, bytes.length / 2))]);
    },
    code: 'storage/invalid-image',
  },
  {
    to: 'images',
    what: 'half an animation',
    sent: () => {
      const film = filmOf({ width: 40, height: 30, frames: 10 });
      return whole([filePart(film.subarray(0, film.length / 2))]);
    },
    code: 'storage/invalid-image',
  },
  {
    to: 'images',
    what: 'the head of a PNG',
    sent: () => whole([filePart(smallPng.subarray(0, 40))]),
    code: 'storage/invalid-image',
  },
  {
    to: 'images',
    what: 'a damaged PNG',
    sent: () => {
      const bytes = Buffer.from(smallPng);
      bytes.fill(0x5a, 45, bytes.length - 14);
      return whole([filePart(bytes)]);
    },
    code: 'storage/invalid-image',
  },
  {
    to: 'images',
    what: 'a bomb of 50,000 × 50,000 pixels',
    sent: () => whole([filePart(bombOf(50_000, 50_000))]),
    code: 'storage/invalid-image',
    says: 'at most 100 megapixels',
  },
  {
    to: 'images',
    what: 'an image of 70 megapixels with 16 bits a channel',
    sent: () => whole([filePart(bombOf(10_000, 7_000, 16))]),
    code: 'storage/invalid-image',
    says: 'over 8 bits a channel',
  },
  {
    to: 'images',
    what: 'an animation of over 100 megapixels',
    sent: () => whole([filePart(animationOf(2_000, 2_000, 26))]),
    code: 'storage/invalid-image',
    says: 'at most 100 megapixels',
  },
  {
    to: 'images',
    what: 'invalid sizes after the image',
    sent: () => whole([filePart(smallPng), { name: 'sizes', value: '{"a":0}' }]),
    code: 'storage/invalid-body',
  },
  {
    to: 'images',
    what: 'an invalid quality before the image',
    sent: () => whole([{ name: 'quality', value: '500' }, filePart(smallPng)]),
    code: 'storage/invalid-body',
  },
  ...['sizes', 'quality'].map(
    (name): Case => ({
      to: 'images',
      what: `${name} with a file name`,
      sent: () => whole([filePart(smallPng), { name, value: '{"a":1}', filename: 'blob' }]),
      code: 'storage/invalid-body',
    }),
  ),
  {
    to: 'images',
    what: 'a HEIC image, which is not AVIF',
    sent: async () => {
      const bytes = await sharp(smallPng).avif().toBuffer();
      const heic = bytes.toString('latin1').replaceAll('avif', 'heic');
      return whole([filePart(Buffer.from(heic, 'latin1'))]);
    },
    code: 'storage/invalid-image',
  },
  {
    to: 'both',
    what: 'a sender that stops in the middle',
    sent: async () => ({
      headers: { 'content-type': type, 'content-length': '900000' },
      body: Buffer.concat([head(), await image()]),
    }),
    code: 'request/timeout',
  },
  {
    to: 'both',
    what: 'a sender that sends only headers',
    sent: () => ({ headers: { 'content-type': type, 'content-length': '900000' }, body: '' }),
    code: 'request/timeout',
  },
  {
    to: 'both',
    what: 'a sender that closes the connection',
    sent: async () => ({
      headers: { 'content-type': type, 'content-length': '9000000' },
      body: endless(Buffer.concat([head(), await image()]), filler, 3),
      leaves: true,
    }),
  },
];

/** A GIF of `frames` frames. Each frame draws only one pixel, so the file is small. */
function animationOf(width: number, height: number, frames: number): Buffer {
  const screen = Buffer.alloc(7);
  screen.writeUInt16LE(width, 0);
  screen.writeUInt16LE(height, 2);
  screen[4] = 0x80;
  const colours = Buffer.from('000000ffffff', 'hex');
  const frame = Buffer.from('21f9040000000000' + '2c00000000010001000002024401' + '00', 'hex');
  const all = Array.from({ length: frames }, () => frame);
  return Buffer.concat([Buffer.from('GIF89a'), screen, colours, ...all, Buffer.from(';')]);
}

/** A PNG whose header claims this width and height, and this number of bits for each channel. */
function bombOf(width: number, height: number, bits = 8): Buffer {
  const bytes = Buffer.from(smallPng);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes[24] = bits;
  // Writes the checksum of the header.
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  return bytes;
}

function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

describe.each(availableBlobHomes())(
  'uploads that are refused, with the bytes in %s',
  (kind: BlobHomeKind) => {
    const undo = new AsyncDisposableStack();
    let platform: TestPlatform;
    let ada: TestUser;
    let blobs: Blobs;
    let drafts: string;
    let unfinished: () => Promise<number>;

    beforeAll(async () => {
      const s3 = kind === 's3' ? undo.use(await startS3()) : undefined;
      const temporary = await mkdtemp(join(tmpdir(), 'kith-refusals-'));
      undo.defer(() => rm(temporary, { recursive: true, force: true }));
      const env = {
        UPLOAD_IDLE_MS: String(idleMs),
        TMPDIR: temporary,
        ...(s3 && { STORAGE_URL: s3.url }),
      };
      platform = undo.use(await startPlatform({ engine: engineOfHome(kind), env }));
      const database = `${platform.prefix}_storage`;
      const url = platform.engines?.mongodbUrl ?? '';
      const folder = join(platform.dataFolder, 'files');
      const config: BlobsConfig =
        kind === 's3'
          ? { kind, url: s3?.url ?? '' }
          : kind === 'gridfs'
            ? { kind, url, database }
            : { kind, folder };
      drafts =
        kind === 'gridfs'
          ? join(temporary, `kith-drafts-${process.geteuid?.()}`)
          : join(platform.dataFolder, 'drafts');
      blobs = undo.adopt(await openBlobs(config), (opened) => opened.close());
      if (kind === 'gridfs') {
        const client = undo.use(new MongoClient(url));
        unfinished = () => looseChunks(client, database);
      } else unfinished = async () => (kind === 'folder' ? unfinishedIn(folder) : 0);
      ada = await platform.createUser();
    });
    afterAll(() => undo.disposeAsync());

    const rows = cases.flatMap((one) => {
      const all = one.to === 'both' ? (['images', 'files'] as const) : [one.to];
      return all.map((to) => [to, one.what, one] as const);
    });

    it.each(rows)('%s: %s', async (to, _, { sent, code, says = '' }) => {
      const answer = await send(to, await sent());
      if (code === undefined) expect(answer).toBeUndefined();
      else
        expect([answer?.status, answer?.body]).toEqual([
          statusOf(code),
          expect.objectContaining({ code, error: expect.stringContaining(says) }),
        ]);
      await nothingIsLeft();
    });

    it('an image that contains other data is stored without this data', async () => {
      const script = '<script>alert(1)</script>';
      const bytes = Buffer.concat([await image(), Buffer.from(script)]);
      const answer = await send('images', whole([filePart(bytes)]));
      expect(answer?.status).toBe(201);
      const { fileId, originalPath } = (answer?.body ?? {}) as { fileId: string; originalPath: string };
      const stored = await fetch(platform.url + originalPath);
      expect(Buffer.from(await stored.arrayBuffer()).includes(script)).toBe(false);
      await platform.call('DELETE', `/v7/${ada.projectId}/storage/files/${fileId}`, {
        token: ada.accessToken,
      });
      await nothingIsLeft();
    });

    /**
     * Checks that nothing is left: no stored bytes, no draft, no unfinished upload, no request in progress, and no file in the list.
     */
    async function nothingIsLeft(): Promise<void> {
      const left = async () => {
        const found: string[] = [];
        for await (const { key } of blobs.list()) found.push(key);
        found.push(...(await readdir(drafts)));
        if ((await unfinished()) > 0) found.push('unfinished');
        const { samples } = await scrape(platform.internalUrls);
        const inFlight = samples.filter(({ name }) => name === 'kith_operations_in_flight');
        if (inFlight.some(({ value }) => value > 0)) found.push('in flight');
        return found;
      };
      const isNone = async () => {
        const found = await left();
        if (found.length > 0) throw new Error(`There is ${found.join(', ')}.`);
        return true;
      };
      await waitFor(isNone, { what: 'nothing left' });
      const list = await platform.call<{ data: unknown[] }>('GET', `/v7/${ada.projectId}/storage/files`, {
        token: ada.accessToken,
      });
      expect(list.data).toEqual([]);
    }

    /** Sends bytes as they are. The answer can arrive before all bytes are sent. */
    function send(to: string, { headers = {}, body = '', leaves }: Sent) {
      const { hostname, port } = new URL(platform.url);
      const socket = connect(Number(port), hostname);
      const lines = Object.entries({
        host: 'localhost',
        authorization: `Bearer ${ada.accessToken}`,
        connection: 'close',
        ...headers,
      });
      const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const isChunked = headers['transfer-encoding'] === 'chunked';
      return new Promise<{ status: number; body: unknown } | undefined>((resolve, reject) => {
        const received: Buffer[] = [];
        const end = () => {
          const all = Buffer.concat(received).toString();
          const status = Number(/^HTTP\/1\.1 (\d+)/.exec(all)?.[1]);
          const json = all.includes('{') ? all.slice(all.indexOf('{'), all.lastIndexOf('}') + 1) : undefined;
          resolve(status ? { status, body: json && JSON.parse(json) } : undefined);
        };
        socket.on('data', (chunk) => received.push(chunk));
        socket.on('close', end);
        // Closes the connection, even if some bytes have not been sent yet.
        socket.on('end', () => socket.destroy());
        socket.on('error', (error: NodeJS.ErrnoException) => {
          // These errors mean that the platform has closed the connection. They are no failure, because the answer can have
          // arrived before.
          if (!['EPIPE', 'ECONNRESET'].includes(error.code ?? '')) reject(error);
        });
        const write = (bytes: Uint8Array | string) =>
          new Promise<void>((done) => {
            if (socket.destroyed || !socket.writable) done();
            else socket.write(bytes, () => done());
          });
        void (async () => {
          await write(`POST /v7/${ada.projectId}/storage/${to} HTTP/1.1\r\n${text}\r\n`);
          if (typeof body === 'string' || body instanceof Uint8Array) await write(body);
          else {
            for await (const piece of body) {
              if (socket.destroyed || received.length > 0) break;
              if (isChunked) await write(`${piece.length.toString(16)}\r\n`);
              await write(piece);
              if (isChunked) await write('\r\n');
            }
            if (isChunked && received.length === 0) await write('0\r\n\r\n');
          }
          if (leaves) socket.destroy();
        })().catch(reject);
      });
    }
  },
);
