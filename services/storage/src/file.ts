import type {
  EventOf,
  fileCreated,
  fileDeleted,
  ImageFormat,
  StoredFile,
  StoredImage,
} from '@kith/contracts';
import { type Caller, makeEvent } from '@kith/service';

/** The owner of files. Each file belongs to one user of one project. */
export interface Owner {
  projectId: string;
  userId: string;
}

/** The owner whose files a request may list, add and delete. */
export function ownerOf(request: { projectId: string; caller: Caller }): Owner {
  return { projectId: request.projectId, userId: request.caller.userId };
}

/** The record of the bytes of a file or of one of its variants. */
export interface BytesRecord {
  size: number;
}

/** A rendered image. */
export interface RenderedRecord extends BytesRecord {
  width: number;
  height: number;
}

/** A file as it is stored. Times are Unix ms. */
export interface FileRecord extends Owner {
  id: string;
  createdAt: number;
  /**
   * The id under which the bytes are stored, if it differs from the file's own id. Only imported files have this field: their
   * bytes are stored under the id of the upload.
   */
  bytesId?: string | undefined;
  /** The bytes that are served under the file's own address. */
  original: BytesRecord;
  /** The size of the file and all its variants together, in bytes. */
  bytes: number;
  /** The media type, which was recognised from the bytes. */
  contentType: string;
  /** The name that the client gave the file. */
  name: string;
  image?: ImageRecord | undefined;
}

/** The additional fields in the record of an image. */
export interface ImageRecord {
  format: ImageFormat;
  quality: number;
  width: number;
  height: number;
  variants: Readonly<Record<string, RenderedRecord>>;
}

/**
 * The key of a file's bytes. Without `variant`, returns the key of the bytes that are served under the file's own address. This
 * key ends with `original.bytes`. The name of a variant contains no dot, so no variant can have the same key.
 */
export function blobKey(
  file: Owner & { id: string; bytesId?: string | undefined },
  variant?: string,
): string {
  return `${filePrefix({ ...file, id: bytesIdOf(file) })}${variant ?? 'original.bytes'}`;
}

/** The id under which a file's bytes are stored. */
export function bytesIdOf({ id, bytesId = id }: { id: string; bytesId?: string | undefined }): string {
  return bytesId;
}

/** The prefix of the keys of all bytes that are stored under an id. */
export function filePrefix({ projectId, userId, id }: Owner & { id: string }): string {
  return `${projectId}/${userId}/${id}/`;
}

/** Makes the addresses of files. If `PUBLIC_URL` is set, the addresses begin with it (spec#storage-avatar-address). */
export class Addresses {
  readonly #publicUrl: string;

  constructor(publicUrl: string | undefined) {
    this.#publicUrl = publicUrl ?? '';
  }

  of({ projectId, id }: { projectId: string; id: string }, variant?: string): string {
    const path = `/v7/${projectId}/storage/files/${id}`;
    return `${this.#publicUrl}${path}${variant === undefined ? '' : `/${variant}`}`;
  }
}

/** The file as the API shows it (spec#storage-upload-file). */
export function toFile(record: FileRecord, addresses: Addresses): StoredFile | StoredImage {
  return record.image ? toImage(record, record.image, addresses) : toPlainFile(record, addresses);
}

/** The answer for a file that is no image (spec#storage-upload-file). */
export function toPlainFile(record: FileRecord, addresses: Addresses): StoredFile {
  const { name, contentType } = record;
  return { ...common(record, addresses), type: 'file', name, contentType, createdAt: createdAt(record) };
}

/** The answer for an image with its sizes (spec#storage-images). */
export function toImage(record: FileRecord, image: ImageRecord, addresses: Addresses): StoredImage {
  const { format, quality, width, height } = image;
  const variants = Object.entries(image.variants).map(([name, one]) => [
    name,
    {
      publicPath: addresses.of(record, name),
      width: one.width,
      height: one.height,
      size: one.size,
      format,
    },
  ]);
  return {
    ...common(record, addresses),
    type: 'image',
    originalWidth: width,
    originalHeight: height,
    variants: Object.fromEntries(variants),
    format,
    quality,
    createdAt: createdAt(record),
  };
}

function common(record: FileRecord, addresses: Addresses) {
  return { fileId: record.id, originalPath: addresses.of(record), originalSize: record.original.size };
}

function createdAt(record: FileRecord): string {
  return new Date(record.createdAt).toISOString();
}

/** The event that says that a file was created or deleted. `seq` counts the changes of the user's files. */
export function fileEvent<E extends typeof fileCreated | typeof fileDeleted>(
  spec: E,
  record: FileRecord,
  seq: number,
): EventOf<E> {
  const { projectId, userId, id, bytes } = record;
  return makeEvent<E>(spec, {
    projectId,
    actorId: userId,
    aggregate: { type: 'files', id: userId, seq },
    data: { fileId: id, userId, kind: record.image ? 'image' : 'file', bytes } as EventOf<E>['data'],
    occurredAt: new Date(),
  });
}
