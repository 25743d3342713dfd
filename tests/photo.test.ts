// Starts at most 1 platform and 6 processes.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { StoredImage } from '@kith/contracts';
import { availableEngines, sharedPlatform, type TestPlatform, type TestUser } from '@kith/testing';
import { build } from 'esbuild';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPage } from './support/pages.ts';
import { sharedBrowser } from './support/shared-browser.ts';

const run = promisify(execFile);
const browser = await sharedBrowser();
afterAll(() => browser?.close());
const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

const camera = 'Kith Camera';
/**
 * The degrees, minutes and seconds of the latitude. A camera writes each of them as a fraction, here with the denominator 1.
 */
const latitude = [48, 51, 30];
const traces = [
  'Exif\0\0',
  camera,
  Buffer.from(Uint32Array.from(latitude.flatMap((part) => [part, 1])).buffer),
];
const sizes = { small: 300, large: 1200 };
/**
 * The stored size of the photo. A phone that is held upright stores a photo sideways. The phone adds EXIF data: the note that
 * the photo must be turned, and the place where it was taken.
 */
const lying = { width: 2560, height: 1920 };

async function takePhoto(): Promise<Buffer> {
  const red = { width: 400, height: 400, channels: 3, background: '#ff0000' } as const;
  // Noise does not compress well, so the photo gets as large as 12 MB.
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  return sharp({ create: { ...lying, channels: 3, background: '#808080', noise } })
    .composite([{ input: await sharp({ create: red }).png().toBuffer(), top: 0, left: 0 }])
    .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
    .withMetadata({ orientation: 6 })
    .withExifMerge({
      IFD0: { Make: camera },
      IFD3: {
        GPSLatitudeRef: 'N',
        GPSLatitude: latitude.map((part) => `${part}/1`).join(' '),
        GPSLongitudeRef: 'E',
        GPSLongitude: '2/1 17/1 40/1',
      },
    })
    .toBuffer();
}

let folder: string;
let path: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-photo-'));
  path = join(folder, 'photo.jpg');
  const photo = await takePhoto();
  await writeFile(path, photo);
  expect(photo.length).toBeGreaterThan(12_000_000);
  expect(await sharp(photo).metadata()).toMatchObject({ ...lying, orientation: 6 });
  for (const trace of traces) expect(photo.includes(trace)).toBe(true);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Serves a page with the client, at an origin of its own. */
async function servePage(): Promise<{ origin: string } & AsyncDisposable> {
  const contents = "import { createClient } from '@kith/client'; globalThis.createClient = createClient;";
  const resolveDir = fileURLToPath(new URL('.', import.meta.url));
  const built = await build({ stdin: { contents, resolveDir }, bundle: true, write: false, format: 'esm' });
  const page = `<!doctype html><input type="file"><script type="module">${built.outputFiles[0]?.text}</script>`;
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe.each(availableEngines())('a photo of 12 MB (%s)', { timeout: 120_000 }, (engine) => {
  let platform: TestPlatform;
  let ada: TestUser;
  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    ada = await platform.createUser();
  });
  afterAll(() => platform?.stop());

  /** Checks that the served files of an image are upright, have the requested sizes, and lack the camera's data. */
  async function expectUpright(image: StoredImage): Promise<void> {
    expect(image).toMatchObject({
      type: 'image',
      originalWidth: lying.height,
      originalHeight: lying.width,
      format: 'jpeg',
      variants: { small: { width: 225, height: 300 }, large: { width: 900, height: 1200 } },
    });
    const { small, large } = image.variants;
    for (const [address, width, height, size] of [
      [image.originalPath, lying.height, lying.width, image.originalSize],
      [small?.publicPath, 225, 300, small?.size],
      [large?.publicPath, 900, 1200, large?.size],
    ] as const) {
      const response = await fetch(`${platform.url}${address}`);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(bytes.length).toBe(size);
      const metadata = await sharp(bytes).metadata();
      expect(metadata).toMatchObject({ width, height });
      expect([metadata.orientation, metadata.exif, metadata.xmp]).toEqual([undefined, undefined, undefined]);
      for (const trace of traces) expect(bytes.includes(trace)).toBe(false);
      // The uploaded photo has a red square in its top left corner. Turning the photo moves this corner to the top right.
      const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
      const at = (x: number, y: number) => {
        const [r = 0, g = 0, b = 0] = data.subarray((y * info.width + x) * info.channels);
        return r > 200 && g < 60 && b < 60;
      };
      const edge = Math.round(width / 20);
      const corners = [at(edge, edge), at(width - edge, edge), at(edge, height - edge)];
      expect(corners).toEqual([false, true, false]);
    }
  }

  it.skipIf(!hasCurl)('can be uploaded with curl, and downloaded in ranges and with an ETag', async () => {
    const { stdout } = await run('curl', [
      ...['--silent', '--show-error', '--fail-with-body', '-H', `Authorization: Bearer ${ada.accessToken}`],
      ...['-F', `file=@${path}`, '-F', `sizes=${JSON.stringify(sizes)}`],
      `${platform.url}/v7/${ada.projectId}/storage/images`,
    ]);
    const image = JSON.parse(stdout) as StoredImage;
    await expectUpright(image);

    const address = `${platform.url}${image.variants.large?.publicPath}`;
    const whole = await fetch(address);
    const bytes = Buffer.from(await whole.arrayBuffer());
    const part = await fetch(address, { headers: { range: 'bytes=100-299' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-299/${bytes.length}`]);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100, 300))).toBe(true);
    const etag = whole.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    const again = await fetch(address, { headers: { 'if-none-match': etag } });
    expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
  });

  // The page works in the same way with every store and bus, so it is enough to test one form of the platform.
  it.skipIf(!browser || engine !== 'embedded')(
    'can be uploaded by a page, which gets the progress and shows the photo',
    async () => {
      await using site = await servePage();
      const page = await (browser as NonNullable<typeof browser>).newPage();
      try {
        await openPage(page, site.origin);
        // Limits uploads to 3 MB/s, as over a mobile network.
        const network = await page.context().newCDPSession(page);
        const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 3e6 };
        await network.send('Network.emulateNetworkConditions', conditions);
        await page.setInputFiles('input', path);
        const { user, accessToken, refreshToken, projectId } = ada;
        const session = { user, accessToken, refreshToken };
        const { image, told } = (await page.evaluate(`(async () => {
        const kith = createClient(${JSON.stringify({ url: platform.url, projectId, session })});
        const told = [];
        const [file] = document.querySelector('input').files;
        const onProgress = (progress) => told.push(progress);
        const image = await kith.storage.createImage({ file, sizes: ${JSON.stringify(sizes)} }, { onProgress });
        return { image, told };
      })()`)) as { image: StoredImage; told: { loaded: number; total: number }[] };
        await expectUpright(image);
        const total = told[0]?.total ?? 0;
        expect(total).toBeGreaterThan(12_000_000);
        expect(told.filter(({ loaded }) => loaded > 0 && loaded < total).length).toBeGreaterThan(3);
        const steps = told.map(({ loaded }) => loaded);
        expect(steps).toEqual(steps.toSorted((a, b) => a - b));
        expect(told.at(-1)).toEqual({ loaded: total, total });

        const shown = await page.evaluate(`(async () => {
        const picture = new Image();
        picture.src = ${JSON.stringify(`${platform.url}${image.variants.small?.publicPath}`)};
        await picture.decode();
        return [picture.naturalWidth, picture.naturalHeight];
      })()`);
        expect(shown).toEqual([225, 300]);
      } finally {
        await page.close();
      }
    },
  );
});
