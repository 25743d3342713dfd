import type {
  EventOf,
  fileCreated,
  fileDeleted,
  ImageFormat,
  StoredFile,
  StoredImage,
} from '@kith/contracts';
import { type Caller, makeEvent } from '@kith/service';

/** Whose files: every one belongs to one user of one project. */
export interface Owner {
  projectId: string;
  userId: string;
}

/** Whose files a request may list, add and delete. */
export function ownerOf(request: { projectId: string; caller: Caller }): Owner {
  return { projectId: request.projectId, userId: request.caller.userId };
}

/** What is known of some bytes. */
export interface BytesRecord {
  size: number;
  /** Base64url of their SHA-256. */
  digest: string;
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
  /** Under what its bytes lie, where that is not its id: another of the upload that brought it. */
  bytesId?: string | undefined;
  /** What is served under the file's own address. */
  original: BytesRecord;
  /** All bytes of it, those of variants too. */
  bytes: number;
  /** Read from the bytes. */
  contentType: string;
  /** As the client called it. */
  name: string;
  image?: ImageRecord | undefined;
}

/** What an image has beside. */
export interface ImageRecord {
  format: ImageFormat;
  quality: number;
  width: number;
  height: number;
  variants: Readonly<Record<string, RenderedRecord>>;
}

/** Where bytes of a file lie: those of its own address, or of a variant. No variant's name has a dot. */
export function blobKey(
  file: Owner & { id: string; bytesId?: string | undefined },
  variant?: string,
): string {
  return `${filePrefix({ ...file, id: bytesIdOf(file) })}${variant ?? 'original.bytes'}`;
}

/** Under what a file's bytes lie. */
export function bytesIdOf({ id, bytesId = id }: { id: string; bytesId?: string | undefined }): string {
  return bytesId;
}

/** What the keys of some bytes begin with. */
export function filePrefix({ projectId, userId, id }: Owner & { id: string }): string {
  return `${projectId}/${userId}/${id}/`;
}

/** Writes the addresses of files, which begin with `PUBLIC_URL` where that is set (spec#storage-avatar-address). */
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

/** A file that is no image (spec#storage-upload-file). */
export function toPlainFile(record: FileRecord, addresses: Addresses): StoredFile {
  const { name, contentType } = record;
  return { ...common(record, addresses), type: 'file', name, contentType, createdAt: createdAt(record) };
}

/** An image with its sizes (spec#storage-images). */
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

/** The event that tells that a file came or went. `seq` counts the changes of the user's files. */
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
