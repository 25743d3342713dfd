import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '@kith/base';
import type { ImageFormat } from '@kith/contracts';
import sharp, { type Sharp } from 'sharp';
import { Places } from './places.ts';
import { isWholeGif } from './whole-gif.ts';

/** How to render an image. */
export interface RenderRequest {
  /** The file that was sent, and its recognised format. */
  path: string;
  format: ImageFormat;
  /** The longest edge of each variant, by the variant's name. */
  sizes: Readonly<Record<string, number>>;
  quality: number;
  /** The folder for the rendered files. */
  folder: string;
  signal: AbortSignal;
  /**
   * The time at which rendering has to end, in Unix ms. After it, too little time is left to store the images before the answer
   * is due.
   */
  deadline: number;
}

/** A rendered image in a file. */
export interface Rendered {
  path: string;
  width: number;
  height: number;
  size: number;
}

/**
 * The maximum number of pixels of an image, all frames taken together (spec#storage-invalid-image). If a pixel takes more than
 * four bytes, correspondingly fewer pixels are allowed, so that the memory for an image stays limited.
 */
export const maxPixels = 100_000_000;
const bytesAPixel = 4;
/** How many images this process renders at the same time. */
const atOnce = 2;
/** The maximum time for rendering an image in all its sizes, in ms (spec#storage-render-time). */
const longestMs = 40_000;
export const defaultQuality = 80;

/** Formats that can contain several frames, as in an animation. The rendered images contain the same frames. */
const moving: ReadonlySet<ImageFormat> = new Set(['gif', 'webp']);

/**
 * Reads and renders images with libvips. Only a limited number of images is rendered at the same time, each with one thread
 * and without a cache.
 */
export class Renderer {
  readonly #places = new Places(atOnce);
  readonly #longestMs: number;

  constructor(options: { longestMs?: number } = {}) {
    this.#longestMs = options.longestMs ?? longestMs;
    sharp.cache(false);
    sharp.concurrency(1);
  }

  /**
   * Renders an image in its own size and in the sizes of the request. The results are upright, have no metadata, and are never
   * larger than the image. Throws `storage/invalid-image` if the image cannot be read or takes too long to render. Throws
   * `gateway/unavailable` if the deadline comes first because the image had to wait for other images.
   *
   * Rejects as soon as the signal is aborted. Then no further size is begun. But the size that is just being rendered is
   * usually completed. sharp can be stopped only by its timeout, and it does not even stop at its timeout while it encodes
   * AVIF.
   */
  render(request: RenderRequest): Promise<{ original: Rendered; variants: Record<string, Rendered> }> {
    const { signal, deadline } = request;
    return this.#places.run(signal, async () => {
      try {
        return await renderAll(request, Math.min(Date.now() + this.#longestMs, deadline));
      } catch (error) {
        if (error instanceof ApiError || signal.aborted || isOurs(error)) throw error;
        if (isOverLimit(error)) throw tooLarge('at most 100 megapixels');
        if (!isTimeout(error)) throw new ApiError('storage/invalid-image', { cause: error });
        throw Date.now() < deadline ? tooSlow(error) : new ApiError('gateway/unavailable', { cause: error });
      }
    });
  }
}

async function renderAll(request: RenderRequest, end: number) {
  const { sizes, signal } = request;
  await checkSent(request);
  const original = await renderOne(request, { name: 'original', end });
  const variants: Record<string, Rendered> = {};
  for (const [name, edge] of Object.entries(sizes)) {
    signal.throwIfAborted();
    // Because of this prefix, the file of a variant cannot have the name of another file in the folder.
    variants[name] = await renderOne(request, { name: `variant.${name}`, edge, end });
  }
  return { original, variants };
}

/**
 * Checks an image before it is decoded. Refuses an image in three cases: it does not have the recognised format, it would take
 * too much memory, or it is a GIF that is cut off.
 */
async function checkSent(request: RenderRequest): Promise<void> {
  const { width, height, pageHeight, pages = 1, channels, depth, format } = await open(request).metadata();
  const expected = request.format === 'avif' ? 'heif' : request.format;
  if (format !== expected) throw new ApiError('storage/invalid-image');
  const pixels = width * (pageHeight === undefined ? height : pageHeight * pages);
  const depthBytes =
    depth === 'uchar' || depth === 'char' ? 1 : depth === 'ushort' || depth === 'short' ? 2 : 4;
  const bytes = pixels * Math.max(bytesAPixel, channels * depthBytes);
  if (pixels > maxPixels) throw tooLarge('at most 100 megapixels');
  if (bytes > maxPixels * bytesAPixel)
    throw tooLarge('fewer megapixels, because it has over 8 bits a channel');
  if (format === 'gif' && !(await isWholeGif(request))) throw new ApiError('storage/invalid-image');
}

function tooLarge(limit: string): ApiError {
  const message = `The image must have ${limit}, all frames taken together.`;
  return new ApiError('storage/invalid-image', { message });
}

async function renderOne(
  request: RenderRequest,
  { name, edge, end }: { name: string; edge?: number; end: number },
): Promise<Rendered> {
  const path = join(request.folder, name);
  const upright = open(request).autoOrient();
  const sized =
    edge === undefined
      ? upright
      : upright.resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true });
  // sharp accepts only whole seconds, and 0 would mean that there is no timeout. So the time is rounded up, to at least 1.
  const seconds = Math.max(1, Math.ceil((end - Date.now()) / 1000));
  const made = await encode(sized, request).timeout({ seconds }).toFile(path);
  const { size } = await stat(path);
  return { path, width: made.width, height: made.pageHeight ?? made.height, size };
}

function open({ path, format }: RenderRequest): Sharp {
  return sharp(path, {
    limitInputPixels: maxPixels,
    // Refuses an image whose file is incomplete, except an animated GIF.
    failOn: 'truncated',
    animated: moving.has(format),
    sequentialRead: true,
  });
}

function encode(image: Sharp, { format, quality }: RenderRequest): Sharp {
  switch (format) {
    case 'jpeg':
      return image.jpeg({ quality });
    case 'png':
      return image.png();
    case 'webp':
      return image.webp({ quality });
    case 'gif':
      // Each resized frame needs a new palette of colours. With sharp's default effort of 7 instead of 3, finding the palette
      // would take eight times as long.
      return image.gif({ effort: 3 });
    case 'avif':
      // With more effort, encoding would take many times as long, and the result would be only a little better.
      return image.avif({ quality, effort: 2 });
  }
}

/** Whether sharp has refused an image because of `limitInputPixels`. */
function isOverLimit(error: unknown): boolean {
  return (error as Error).message.includes('exceeds pixel limit');
}

/** Whether sharp has stopped a render at its timeout. */
function isTimeout(error: unknown): boolean {
  return /^timeout: \d+% complete/m.test((error as Error).message);
}

function tooSlow(cause: unknown): ApiError {
  const message = 'The image takes too long to render. It must have fewer frames or pixels, or fewer sizes.';
  return new ApiError('storage/invalid-image', { message, cause });
}

/** Whether the cause of a failure is this machine and not the image. */
function isOurs(error: unknown): boolean {
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  return ['ENOSPC', 'EIO', 'EMFILE'].includes(code) || message.includes('No space left');
}
