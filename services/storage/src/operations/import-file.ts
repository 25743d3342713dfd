import { createHash } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import { ApiError } from '@kith/base';
import {
  type BodyOf,
  type ErrorCode,
  type ImportReason,
  type ImportResult,
  importFile as spec,
} from '@kith/contracts';
import { nameUsers, uploadHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { blobKey, type FileRecord, type ImageRecord, type Owner } from '../file.ts';
import { IdTaken, type IntentOf, receive } from '../uploads/receive.ts';
import { fileReceiver } from '../uploads/receive-file.ts';
import { imageReceiver } from '../uploads/receive-image.ts';

/** How long to wait for identity's answer about the user that a row names, in ms. */
const askMs = 5_000;

const reasons: Partial<Record<ErrorCode, ImportReason>> = {
  'storage/invalid-image': 'invalid-image',
  'storage/quota-exceeded': 'quota-exceeded',
  // An upload throws this code if the user's account has ended.
  'auth/unauthorized': 'deleted',
};

/**
 * Imports a user's file, with the time of its original upload. Publishes no event (docs/adr/0018). If the file exists already,
 * the row changes nothing. If the values of the row differ from those of the existing file, the row is rejected with the reason
 * `conflict`. The bytes of images are not compared, because an image is rendered anew before it is stored.
 */
export const importFile = uploadHandler(spec, async (request, app: AppContext): Promise<ImportResult> => {
  const { projectId } = request.params;
  let told: ImportResult = { imported: 1, unchanged: 0, rejected: [] };
  const intent: IntentOf = async (file, before) => {
    const row = request.fields(before);
    const name = { id: row.userId, foreignId: row.userForeignId };
    const { requestId } = request;
    const asking = { requestId, deadline: Date.now() + askMs };
    const userId = (await nameUsers(app.bus, { projectId, names: [name] }, asking))(name);
    if (userId === undefined) {
      await digestOf(file.bytes);
      told = rejection('user-not-found');
      return undefined;
    }
    const owner = { projectId, userId };
    const there = await app.store.made(await app.store.account(owner), row.id);
    if (there) {
      const sent = await digestOf(file.bytes);
      told = await comparison(app, { row, owner, name: file.name, sent, signal: request.signal }, there);
      return undefined;
    }
    return {
      ...owner,
      receiver: row.kind === 'image' ? imageReceiver(app, () => row) : fileReceiver(app),
      imported: { id: row.id, createdAt: Date.parse(row.createdAt) },
    };
  };
  try {
    await receive(request, app, { upload: spec.upload, intent });
    return told;
  } catch (error) {
    if (error instanceof IdTaken) return rejection('id-taken');
    const reason = error instanceof ApiError && reasons[error.code];
    if (!reason) throw error;
    return rejection(reason);
  }
});

async function comparison(
  { blobs, store }: AppContext,
  of: { row: BodyOf<typeof spec>; owner: Owner; name: string; sent: Digest; signal: AbortSignal },
  there: FileRecord,
): Promise<ImportResult> {
  const { row, owner, name, sent, signal } = of;
  if (there.userId !== owner.userId) return rejection('id-taken');
  const { image } = there;
  const isImage = image !== undefined;
  const areImages = isImage && row.kind === 'image';
  const isStored = async () => {
    if (sent.size !== there.original.size) return false;
    const stored = await blobs.read(blobKey(there));
    if (!stored) {
      // The bytes may be missing because the file was just deleted. A deletion removes the record first, and then the bytes. In
      // this case, the row can be imported again.
      if (!(await store.made(await store.account(owner), row.id)))
        throw new Error('The file was deleted meanwhile.');
      return false;
    }
    // When the signal is aborted, stops reading the stored bytes. Otherwise, a store of bytes that does not answer would block
    // the import forever.
    if (stored instanceof Readable) addAbortSignal(signal, stored);
    return (await digestOf(stored)).digest === sent.digest;
  };
  const differs = {
    kind: isImage !== (row.kind === 'image'),
    name: name !== there.name,
    createdAt: Date.parse(row.createdAt) !== there.createdAt,
    sizes: areImages && row.sizes !== undefined && !hasSizes(image, row.sizes),
    quality: areImages && row.quality !== undefined && row.quality !== image.quality,
    path: !isImage && row.kind === 'file' && !(await isStored()),
  };
  const fields = Object.entries(differs).flatMap(([field, isSo]) => (isSo ? [field] : []));
  if (fields.length > 0) return rejection('conflict', fields);
  return { imported: 0, unchanged: 1, rejected: [] };
}

/**
 * Whether an image has exactly these sizes. A size that is larger than the image counts as the size of the image
 * (spec#storage-sizes).
 */
function hasSizes({ width, height, variants }: ImageRecord, sizes: Record<string, number>): boolean {
  const longest = Math.max(width, height);
  const isSame = ([name, edge]: [string, number]) => {
    const variant = Object.hasOwn(variants, name) ? variants[name] : undefined;
    return variant !== undefined && Math.max(variant.width, variant.height) === Math.min(edge, longest);
  };
  const all = Object.entries(sizes);
  return all.length === Object.keys(variants).length && all.every(isSame);
}

function rejection(reason: ImportReason, fields?: string[]): ImportResult {
  return { imported: 0, unchanged: 0, rejected: [{ row: 0, reason, ...(fields && { fields }) }] };
}

interface Digest {
  size: number;
  /** The SHA-256 of the bytes, in base64url. */
  digest: string;
}

/**
 * Computes the digest of the bytes. Reads all bytes even if the result is already clear, because the sender of the bytes reads
 * the answer only after it has sent everything.
 */
async function digestOf(bytes: AsyncIterable<Uint8Array>): Promise<Digest> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    hash.update(chunk);
  }
  return { size, digest: hash.digest('base64url') };
}
