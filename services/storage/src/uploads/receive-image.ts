import { createReadStream } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '@kith/base';
import type { ImageFormat } from '@kith/contracts';
import { fileTypeFromBuffer } from 'file-type';
import type { AppContext } from '../app.ts';
import { blobKey, type RenderedRecord } from '../file.ts';
import { defaultQuality, type Rendered } from '../images/renderer.ts';
import type { FormFields } from './form.ts';
import type { Draft, Receipt, Receiver } from './receive.ts';
import { headBytes, storeBytes } from './store-bytes.ts';

/** The formats that are recognised. `sharp` reads more formats, but only these are accepted. */
const formats: Readonly<Record<string, ImageFormat>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/apng': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
};

/**
 * How much of the time until the answer is reserved for storing the rendered images, in ms. Rendering has to end this long
 * before the answer.
 */
const storeMs = 10_000;

interface Sent {
  name: string;
  path: string;
  format: ImageFormat;
}

/**
 * Receives an image. The sent bytes are kept in a temporary file until the image is rendered. Then the rendered images are
 * stored.
 */
export function imageReceiver(
  { blobs, renderer, draftFolder }: AppContext,
  asked: (fields: FormFields) => { sizes?: Record<string, number> | undefined; quality?: number | undefined },
): Receiver<Sent> {
  const folderOf = ({ id }: Receipt) => join(draftFolder, id);
  return {
    async take({ name, bytes }, receipt) {
      const folder = folderOf(receipt);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, 'sent');
      let format: ImageFormat | undefined;
      async function* recognised() {
        const head: Uint8Array[] = [];
        let size = 0;
        for await (const chunk of bytes) {
          // A stored image has at least one byte. If there is no room for it, the rest of the image need not be received.
          receipt.checkRoom(1);
          if (!format) {
            // Copies the bytes, because the memory of the chunk is used again for other bytes.
            head.push(Buffer.from(chunk.subarray(0, headBytes)));
            size += chunk.length;
            if (size >= headBytes) format = await formatOf(Buffer.concat(head));
          }
          yield chunk;
        }
        format ??= await formatOf(Buffer.concat(head));
      }
      // Opens the file before any bytes are read. A write stream would open the file later, when the form may already have
      // failed and the folder may already be removed.
      const sent = await open(path, 'wx', 0o600);
      try {
        await sent.writeFile(recognised(), { signal: receipt.signal });
      } finally {
        await sent.close();
      }
      if (!format) throw new ApiError('storage/invalid-image');
      return { name, path, format };
    },
    async finish({ name, path, format }, fields, receipt) {
      const { sizes = {}, quality = defaultQuality } = asked(fields);
      const made = await renderer.render({
        ...{ path, format, sizes, quality, folder: folderOf(receipt) },
        signal: receipt.signal,
        deadline: receipt.answerBy - storeMs,
      });
      const all = [made.original, ...Object.values(made.variants)];
      await receipt.noted;
      receipt.checkRoom(all.reduce((sum, { size }) => sum + size, 0));
      const store = async (one: Rendered, variant?: string): Promise<RenderedRecord> => {
        const key = blobKey(receipt, variant);
        const bytes = createReadStream(one.path);
        // Without a listener for errors, the process would end if the stream failed before anybody reads it. With this
        // listener, the error is thrown when the stream is read.
        bytes.on('error', () => undefined);
        try {
          const size = await storeBytes(blobs, key, bytes, receipt);
          return { size, width: one.width, height: one.height };
        } finally {
          // If the stream is never read, only this call closes its file.
          bytes.destroy();
        }
      };
      const { size, width, height } = await store(made.original);
      const variants: Record<string, RenderedRecord> = {};
      for (const [variant, one] of Object.entries(made.variants))
        variants[variant] = await store(one, variant);
      const bytes = [size, ...Object.values(variants).map((one) => one.size)];
      const draft: Draft = {
        name,
        original: { size },
        bytes: bytes.reduce((sum, one) => sum + one, 0),
        contentType: `image/${format}`,
        image: { format, quality, width, height, variants },
      };
      return draft;
    },
    async release(receipt) {
      // Tries several times: even after the signal was aborted, sharp may still write a rendered image into the folder.
      await rm(folderOf(receipt), { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/**
 * Recognises the format of an image. Throws `storage/invalid-image` if the first bytes are not of an accepted format. SVG is
 * not accepted as an image, because it can contain programs. An SVG can still be stored as a plain file.
 */
async function formatOf(head: Buffer): Promise<ImageFormat> {
  if (isAvif(head)) return 'avif';
  const type = await fileTypeFromBuffer(head).catch(() => undefined);
  const format = type && formats[type.mime];
  if (!format) throw new ApiError('storage/invalid-image');
  return format;
}

/**
 * Whether the first box of a file lists the brand `avif` (ISO/IEC 14496-12 section 4.3). This check is needed because the
 * library file-type looks only at the first brand, but `avif` may be a later brand.
 */
function isAvif(head: Buffer): boolean {
  if (head.toString('latin1', 4, 8) !== 'ftyp') return false;
  const brands = head.toString('latin1', 8, head.readUInt32BE(0)).match(/.{4}/gs) ?? [];
  // The second group of four characters is a version, not a brand.
  return brands.some((brand, at) => brand === 'avif' && at !== 1);
}
