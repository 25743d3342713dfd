import { createHash } from 'node:crypto';
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
import { blobKey, type FileRecord, type Owner } from '../file.ts';
import { type IntentOf, receive } from '../uploads/receive.ts';
import { fileReceiver } from '../uploads/receive-file.ts';
import { imageReceiver } from '../uploads/receive-image.ts';

/** How long the service waits for identity to find the user of a row, in ms. */
const askMs = 5_000;

const reasons: Partial<Record<ErrorCode, ImportReason>> = {
  'storage/invalid-image': 'invalid-image',
  'storage/quota-exceeded': 'quota-exceeded',
  // This code means that the user's account has ended.
  'auth/unauthorized': 'deleted',
};

/**
 * Imports a user's file, with the time of its original upload. Publishes no event (docs/adr/0018). If the file exists already,
 * the row changes nothing. If the row differs from the existing file, the row is a `conflict`. The bytes of images are not
 * compared, because an image is not kept as it was sent.
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
      const [sent, stored] = [await digestOf(file.bytes), await storedDigest(app, there)];
      told = comparison({ row, owner, name: file.name, isSame: sent === stored }, there);
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
    const reason = error instanceof ApiError && reasons[error.code];
    if (!reason) throw error;
    return rejection(reason);
  }
});

function comparison(
  { row, owner, name, isSame }: { row: BodyOf<typeof spec>; owner: Owner; name: string; isSame: boolean },
  there: FileRecord,
): ImportResult {
  if (there.userId !== owner.userId) return rejection('id-taken');
  const isImage = there.image !== undefined;
  const differs = {
    kind: isImage !== (row.kind === 'image'),
    name: name !== there.name,
    createdAt: Date.parse(row.createdAt) !== there.createdAt,
    path: !isImage && row.kind === 'file' && !isSame,
  };
  const fields = Object.entries(differs).flatMap(([field, isSo]) => (isSo ? [field] : []));
  if (fields.length > 0) return rejection('conflict', fields);
  return { imported: 0, unchanged: 1, rejected: [] };
}

function rejection(reason: ImportReason, fields?: string[]): ImportResult {
  return { imported: 0, unchanged: 0, rejected: [{ row: 0, reason, ...(fields && { fields }) }] };
}

/** The digest of a stored file; `undefined` if the file is an image, or if its bytes are being removed. */
async function storedDigest({ blobs }: AppContext, file: FileRecord): Promise<string | undefined> {
  const bytes = file.image ? undefined : await blobs.read(blobKey(file));
  return bytes && digestOf(bytes);
}

/** Reads bytes to their end and returns their digest. A sender has to send all bytes before it reads the answer. */
async function digestOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of bytes) digest.update(chunk);
  return digest.digest('base64url');
}
