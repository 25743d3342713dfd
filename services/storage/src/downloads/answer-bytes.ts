import { ApiError } from '@kith/base';
import type { getFile, getFileVariant } from '@kith/contracts';
import { type BytesAnswer, folderHeader, type HttpRequest } from '@kith/service';
import { hasBlob } from '@kith/store/blobs';
import type { AppContext } from '../app.ts';
import { type BytesRecord, blobKey, bytesIdOf, type FileRecord } from '../file.ts';
import { wantedOf } from './conditions.ts';

type DownloadRequest = HttpRequest<typeof getFile> | HttpRequest<typeof getFileVariant>;

/**
 * Answers with the bytes of a file, or with a part of them. If the client already has the bytes, the answer has no body
 * (spec#storage-get).
 */
export async function answerBytes(
  { incoming }: DownloadRequest,
  { blobs }: AppContext,
  of: { file: FileRecord; variant?: string; bytes: BytesRecord },
): Promise<BytesAnswer> {
  const { file, variant, bytes } = of;
  const { size } = bytes;
  const headers = headersOf(file, variant);
  const wanted = wantedOf(incoming, {
    etag: headers.ETag as string,
    modifiedAt: modifiedAt(file),
    size,
  });
  if (wanted.kind === 'unchanged') return { status: 304, headers: withoutBody(headers) };
  const range = wanted.kind === 'part' ? wanted.range : undefined;
  const length = range ? range.end - range.start + 1 : size;
  const all = {
    ...headers,
    'Content-Length': String(length),
    ...(range && { 'Content-Range': `bytes ${range.start}-${range.end}/${size}` }),
  };
  const status = range ? 206 : 200;
  const isHead = incoming.method === 'HEAD' && length > 0;
  // The bytes may be missing although the file's record exists (docs/adr/0045).
  if (isHead && !(await hasBlob(blobs, { key: blobKey(file, variant) })))
    throw new ApiError('storage/not-found');
  if (incoming.method === 'HEAD' || length === 0) return { status, headers: all };
  const isShared = blobs.folderId !== undefined && incoming.headers[folderHeader] === blobs.folderId;
  if (isShared) return { status, headers: all, stored: { key: blobKey(file, variant), range } };
  const body = await blobs.read(blobKey(file, variant), range);
  // If there are no bytes, the file was usually deleted after its record was read.
  if (!body) throw new ApiError('storage/not-found');
  return { status, headers: all, body };
}

function headersOf(file: FileRecord, variant: string | undefined): Record<string, string> {
  const name = variant === undefined ? file.name : `${variant}-${file.name}`;
  // This service has rendered each image itself, so the bytes are certainly an image and can be shown in the browser. Other
  // files are offered as downloads, because a browser must never show their bytes as a page of this site.
  const disposition = file.image ? 'inline' : 'attachment';
  const modified = modifiedAt(file);
  return {
    'Content-Type': file.contentType,
    'Content-Disposition': `${disposition}; filename="${asciiName(name)}"; filename*=UTF-8''${encoded(name)}`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': 'public, no-cache',
    // The bytes under a key never change, so the tag can be made from the id instead of the content.
    ETag: `"${bytesIdOf(file)}${variant === undefined ? '' : `.${variant}`}"`,
    ...(modified !== undefined && { 'Last-Modified': new Date(modified).toUTCString() }),
    'Accept-Ranges': 'bytes',
  };
}

/**
 * When the bytes were stored, Unix ms. Undefined for an imported file, because its time comes from another backend. After the
 * file is deleted, other bytes may be imported with the same id and the same time. Then only the `ETag` shows clients that the
 * bytes are not the same (spec#storage-last-modified).
 */
function modifiedAt({ bytesId, createdAt }: FileRecord): number | undefined {
  return bytesId === undefined ? createdAt : undefined;
}

function withoutBody(headers: Record<string, string>): Record<string, string> {
  const { 'Content-Type': _, 'Content-Disposition': __, ...others } = headers;
  return others;
}

/** The name in ASCII, for clients that do not support the encoded form (RFC 6266 appendix D). */
function asciiName(name: string): string {
  return name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
}

/** Encodes a name as RFC 8187 section 3.2.1 says. */
function encoded(name: string): string {
  return encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
