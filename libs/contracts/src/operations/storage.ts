import { z } from 'zod';
import { generalList, listQuery } from '../lists.ts';
import { internalOperation, operation } from '../operation.ts';
import { shownText, timestamp, uuid, wholeNumber } from '../scalars.ts';
import { nothing, perFiveMinutes } from './shared.ts';

/** The largest size of an uploaded file or image, in bytes (spec#storage-too-large). */
export const maxFileBytes = 50 * 1024 * 1024;

/** The allowed names for variants of an image. */
export const variantName = /^[a-z0-9-]{1,32}$/;
export const maxVariants = 5;
export const longestEdge = 4096;

const address = shownText(2048);
const mediaType = shownText(255);
const imageFormat = z.enum(['jpeg', 'png', 'webp', 'gif', 'avif']);
export type ImageFormat = z.output<typeof imageFormat>;

/** A rendered size of an image. */
const variant = z.object({
  publicPath: address,
  width: wholeNumber,
  height: wholeNumber,
  size: wholeNumber,
  format: imageFormat,
});

const common = { fileId: uuid, originalPath: address, originalSize: wholeNumber };

/** An image as it is stored: upright and without metadata. Sizes are in bytes, widths and heights in pixels. */
export const storedImage = z.object({
  ...common,
  type: z.literal('image'),
  originalWidth: wholeNumber,
  originalHeight: wholeNumber,
  variants: z.record(shownText(32), variant),
  format: imageFormat,
  quality: z.int().min(1).max(100),
  createdAt: timestamp,
});
export type StoredImage = z.output<typeof storedImage>;

/** A file as it is stored: the bytes that were sent. `contentType` is determined from the bytes. */
export const storedFile = z.object({
  ...common,
  type: z.literal('file'),
  name: shownText(255),
  contentType: mediaType,
  createdAt: timestamp,
});
export type StoredFile = z.output<typeof storedFile>;

/** Sizes as a JSON text, such as `{"small": 200}`. */
export const sizesText = z
  .string()
  .transform((text, context): Record<string, number> => {
    const refuse = (message: string) => {
      context.issues.push({ code: 'custom', message, input: text });
      return z.NEVER;
    };
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return refuse('must be JSON, such as {"small": 200}.');
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return refuse('must be a JSON object, such as {"small": 200}.');
    }
    const entries = Object.entries(value);
    if (entries.length > maxVariants) return refuse(`must have at most ${maxVariants} names.`);
    for (const [name, edge] of entries) {
      if (!variantName.test(name)) return refuse('must have names of 1 to 32 of a-z 0-9 -.');
      if (!Number.isInteger(edge) || edge < 1 || edge > longestEdge) {
        return refuse(`must have whole numbers from 1 to ${longestEdge}.`);
      }
    }
    return Object.fromEntries(entries) as Record<string, number>;
  })
  .pipe(z.record(z.string(), z.int()))
  .meta({
    maxLength: 1024,
    examples: ['{"small": 200}'],
    description: `JSON: up to ${maxVariants} names of \`[a-z0-9-]{1,32}\`, each with the length of its longest edge in pixels, from 1 to ${longestEdge}.`,
  });

export const qualityText = z
  .string()
  .regex(/^\d{1,3}$/, 'must be a whole number from 1 to 100.')
  .transform(Number)
  .pipe(
    z.int().min(1, 'must be a whole number from 1 to 100.').max(100, 'must be a whole number from 1 to 100.'),
  )
  .meta({
    pattern: '^(100|[1-9][0-9]?)$',
    maxLength: 3,
    examples: ['80'],
    description: 'From 1 to 100. Default: 80.',
  });

const ofFiles = { feature: 'storage', scope: 'project' } as const;
/** The rules for every upload of a file. */
export const fileUpload = {
  part: 'file',
  maxBytes: maxFileBytes,
  missing: 'storage/no-file',
  tooLarge: 'storage/file-too-large',
} as const;

/** Stores an image, upright and without metadata. Also stores smaller sizes of it (spec#storage-images). */
export const createImage = operation({
  ...ofFiles,
  name: 'storage.create-image',
  summary: 'Upload an image',
  kind: 'upload',
  method: 'POST',
  path: '/storage/images',
  auth: 'user',
  limit: perFiveMinutes(20),
  params: nothing,
  query: nothing,
  upload: { ...fileUpload, types: imageFormat.options.map((format) => `image/${format}`) },
  body: z.object({ sizes: sizesText.optional(), quality: qualityText.optional() }),
  output: storedImage,
  status: 201,
  errors: ['storage/no-file', 'storage/invalid-image', 'storage/file-too-large', 'storage/quota-exceeded'],
});

/** Stores any bytes as a file (spec#storage-upload-file). */
export const createFile = operation({
  ...ofFiles,
  name: 'storage.create-file',
  summary: 'Upload a file',
  kind: 'upload',
  method: 'POST',
  path: '/storage/files',
  auth: 'user',
  limit: perFiveMinutes(20),
  params: nothing,
  query: nothing,
  upload: fileUpload,
  body: nothing,
  output: storedFile,
  status: 201,
  errors: ['storage/no-file', 'storage/file-too-large', 'storage/quota-exceeded'],
});

/** The caller's own files and images, newest first (spec#storage-list). */
export const listFiles = operation({
  ...ofFiles,
  name: 'storage.list-files',
  summary: "List the caller's files",
  method: 'GET',
  path: '/storage/files',
  auth: 'user',
  limit: perFiveMinutes(100),
  params: nothing,
  query: listQuery({ limit: 20, max: 100 }),
  body: nothing,
  output: generalList(z.union([storedImage, storedFile])),
  status: 200,
  errors: [],
});

const byId = z.object({ fileId: uuid });
const download = {
  ...ofFiles,
  kind: 'download',
  method: 'GET',
  auth: 'none',
  limit: perFiveMinutes(1000),
  query: nothing,
  body: nothing,
  output: z.undefined(),
  status: 200,
  errors: ['storage/not-found', 'storage/invalid-range', 'request/precondition-failed'],
  invalid: { params: 'storage/not-found' },
} as const;

/** The bytes of a file, or of an image in its full size (spec#storage-get). */
export const getFile = operation({
  ...download,
  name: 'storage.get-file',
  summary: 'Get the bytes of a file',
  path: '/storage/files/:fileId',
  params: byId,
});

/** The bytes of an image in one of its sizes (spec#storage-get). */
export const getFileVariant = operation({
  ...download,
  name: 'storage.get-file-variant',
  summary: 'Get an image in one of its sizes',
  path: '/storage/files/:fileId/:variant',
  params: byId.extend({ variant: z.string().regex(variantName).meta({ maxLength: 32 }) }),
});

/** Deletes one of the caller's files. From then on, nobody can get the file (spec#storage-delete). */
export const deleteFile = operation({
  ...ofFiles,
  name: 'storage.delete-file',
  summary: 'Delete a file',
  method: 'DELETE',
  path: '/storage/files/:fileId',
  auth: 'user',
  limit: perFiveMinutes(50),
  params: byId,
  query: nothing,
  body: nothing,
  output: z.undefined(),
  status: 204,
  errors: ['storage/not-found', 'auth/forbidden'],
  invalid: { params: 'storage/not-found' },
});

/** Deletes a file of any user of a project, for example a damaged file (spec#storage-delete-any). */
export const deleteProjectFile = operation({
  name: 'storage.delete-project-file',
  operatorScope: 'users:write',
  summary: "Delete a user's file",
  feature: 'storage',
  method: 'DELETE',
  path: '/admin/projects/:projectId/files/:fileId',
  scope: 'none',
  auth: 'operator',
  limit: null,
  params: z.object({ projectId: uuid, fileId: uuid }),
  query: nothing,
  body: nothing,
  output: z.undefined(),
  status: 204,
  errors: ['storage/not-found'],
  invalid: { params: 'storage/not-found' },
});

/** Returns which of the given ids are images of the user, each with its address. */
export const ownImages = internalOperation({
  name: 'storage.own-images',
  feature: 'storage',
  body: z.object({ projectId: uuid, userId: uuid, fileIds: z.array(uuid).max(2) }),
  output: z.object({ images: z.array(z.object({ fileId: uuid, address })) }),
  errors: [],
});

export const storageOperations = [
  createImage,
  createFile,
  listFiles,
  getFile,
  getFileVariant,
  deleteFile,
  deleteProjectFile,
] as const;
