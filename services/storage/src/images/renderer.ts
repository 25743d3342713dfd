import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '@kith/base';
import type { ImageFormat } from '@kith/contracts';
import sharp, { type Sharp } from 'sharp';
import { Places } from './places.ts';

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
}

/** A rendered image in a file. */
export interface Rendered {
  path: string;
  width: number;
  height: number;
  size: number;
}

/**
 * The maximum number of pixels of an image, over all its frames (spec#storage-invalid-image). If a pixel takes more than four
 * bytes, fewer pixels are allowed.
 */
export const maxPixels = 100_000_000;
const bytesAPixel = 4;
/** How many images this process renders at the same time. */
const atOnce = 2;
/** How long it may take to render an image in one size, in seconds. */
const longestSeconds = 30;
export const defaultQuality = 80;

/** Formats that can hold several frames, as animations do. The rendered images keep the frames. */
const moving: ReadonlySet<ImageFormat> = new Set(['gif', 'webp']);

/**
 * Reads and renders images with libvips. Only a limited number of images is rendered at the same time, each with one thread
 * and without a cache.
 */
export class Renderer {
  readonly #places = new Places(atOnce);

  constructor() {
    sharp.cache(false);
    sharp.concurrency(1);
  }

  /**
   * Renders an image in its own size and in the sizes of the request. The results are upright, have no metadata, and are never
   * larger than the image. Throws `storage/invalid-image`.
   */
  render(request: RenderRequest): Promise<{ original: Rendered; variants: Record<string, Rendered> }> {
    return this.#places.run(request.signal, async () => {
      try {
        return await renderAll(request);
      } catch (error) {
        if (error instanceof ApiError || request.signal.aborted || isOurs(error)) throw error;
        throw new ApiError('storage/invalid-image', { cause: error });
      }
    });
  }
}

async function renderAll(request: RenderRequest) {
  const { sizes, signal } = request;
  await checkSize(request);
  const original = await renderOne(request, 'original');
  const variants: Record<string, Rendered> = {};
  for (const [name, edge] of Object.entries(sizes)) {
    signal.throwIfAborted();
    // With this prefix, no variant gets the name of another file in the folder.
    variants[name] = await renderOne(request, `variant.${name}`, edge);
  }
  return { original, variants };
}

/**
 * Reads only the head of an image. Refuses an image that does not have the recognised format, or that would take too much
 * memory.
 */
async function checkSize(request: RenderRequest): Promise<void> {
  const { width, height, pageHeight, pages = 1, channels, depth, format } = await open(request).metadata();
  const expected = request.format === 'avif' ? 'heif' : request.format;
  if (format !== expected) throw new ApiError('storage/invalid-image');
  const pixels = width * (pageHeight === undefined ? height : pageHeight * pages);
  const depthBytes =
    depth === 'uchar' || depth === 'char' ? 1 : depth === 'ushort' || depth === 'short' ? 2 : 4;
  const tooLarge = pixels * Math.max(bytesAPixel, channels * depthBytes) > maxPixels * bytesAPixel;
  if (tooLarge) {
    throw new ApiError('storage/invalid-image', {
      message: 'The image must have at most 100 megapixels, all frames taken together.',
    });
  }
}

async function renderOne(request: RenderRequest, name: string, edge?: number): Promise<Rendered> {
  const path = join(request.folder, name);
  const upright = open(request).autoOrient();
  const sized =
    edge === undefined
      ? upright
      : upright.resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true });
  const made = await encode(sized, request).timeout({ seconds: longestSeconds }).toFile(path);
  const { size } = await stat(path);
  return { path, width: made.width, height: made.pageHeight ?? made.height, size };
}

function open({ path, format }: RenderRequest): Sharp {
  return sharp(path, {
    limitInputPixels: maxPixels,
    // Refuses an image that ends early.
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
      return image.gif();
    case 'avif':
      // With more effort, the encoder would take many times as long and gain little.
      return image.avif({ quality, effort: 2 });
  }
}

/** Whether the cause of a failure is this machine and not the image. */
function isOurs(error: unknown): boolean {
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  return ['ENOSPC', 'EIO', 'EMFILE'].includes(code) || message.includes('No space left');
}
