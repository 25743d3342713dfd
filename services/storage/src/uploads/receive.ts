import { randomUUID } from 'node:crypto';
import { ApiError } from '@kith/base';
import type { createFile, createImage, Upload } from '@kith/contracts';
import type { HttpRequest } from '@kith/service';
import { changeAccount, isNoted } from '../account.ts';
import type { AppContext, Quotas } from '../app.ts';
import { type FileRecord, filePrefix, type Owner, ownerOf } from '../file.ts';
import { type FormFields, type FormFile, readForm } from './form.ts';

export type UploadRequest = HttpRequest<typeof createFile> | HttpRequest<typeof createImage>;

/** What becomes of a form: first of its file, while it comes in, then of the whole. */
export interface Receiver<T> {
  /** Takes the file's bytes to where they are kept. */
  take(file: FormFile, of: Receipt): Promise<T>;
  /** Makes the record of it, with all its bytes stored. */
  finish(taken: T, fields: FormFields, of: Receipt): Promise<Draft>;
  /** Lets go of what `take` has kept beside the store. */
  release?(of: Receipt): Promise<void>;
}

/** An upload on its way. */
export interface Receipt extends Owner {
  /** The id of the file that is to be. */
  id: string;
  signal: AbortSignal;
  /** Throws `storage/quota-exceeded` where so many bytes are more than may be stored. */
  checkRoom(bytes: number): void;
}

const mebibyte = 1024 * 1024;

export type Draft = Pick<FileRecord, 'original' | 'bytes' | 'contentType' | 'name' | 'image'>;

/**
 * Receives a file. Before its first byte is stored it is noted that there may be bytes under its id. The file's record and the end of
 * that note are one write: whenever a process dies, there is the whole file, or a note of what is to be removed (docs/adr/0045).
 */
export async function receive<T>(
  request: UploadRequest,
  app: AppContext,
  { upload, receiver }: { upload: Upload; receiver: Receiver<T> },
): Promise<FileRecord> {
  const owner = ownerOf(request);
  const projectBytes =
    request.storageMib === undefined ? app.quotas.projectBytes : request.storageMib * mebibyte;
  const quotas = { ...app.quotas, projectBytes };
  const room = await roomOf(app, owner, quotas);
  if (room <= 0) throw new ApiError('storage/quota-exceeded');
  const checkRoom = (bytes: number) => {
    if (bytes > room) throw new ApiError('storage/quota-exceeded');
  };
  const receipt: Receipt = { ...owner, id: randomUUID(), signal: request.signal, checkRoom };
  let due: number | undefined;
  let isBegun = false;
  try {
    const { fields, taken } = await readForm(request.incoming, upload, async (file) => {
      due = Date.now() + app.looseMs;
      await note(app, receipt, due);
      isBegun = true;
      return receiver.take(file, receipt);
    });
    const draft = await receiver.finish(taken, fields, receipt);
    request.signal.throwIfAborted();
    const record = await commit(app, receipt, { draft, quotas });
    app.relay.kick();
    return record;
  } catch (error) {
    if (due === undefined) throw error;
    const left = await abandon(app, receipt, request);
    if (left.record) return left.record;
    // Then others remove its bytes, and what it has failed at may be that: it came too slowly, or the account has ended.
    if (Date.now() >= due || (isBegun && left.isOthers))
      throw new ApiError('request/timeout', { cause: error });
    throw error;
  } finally {
    await receiver.release?.(receipt);
  }
}

/** How many bytes more the user may store. */
async function roomOf({ store }: AppContext, owner: Owner, quotas: Quotas): Promise<number> {
  const [account, projectBytes] = await Promise.all([
    store.account(owner),
    store.projectBytes(owner.projectId),
  ]);
  return Math.min(quotas.userBytes - account.doc.bytes, quotas.projectBytes - projectBytes);
}

async function note(app: AppContext, { id, ...owner }: Receipt, due: number): Promise<void> {
  if (await app.store.erased.has(owner)) throw new ApiError('auth/unauthorized');
  await changeAccount(app, owner, (account) => app.store.begin(account, id, due));
}

async function commit(
  app: AppContext,
  { projectId, userId, id }: Receipt,
  { draft, quotas }: { draft: Draft; quotas: Quotas },
): Promise<FileRecord> {
  const owner = { projectId, userId };
  let record: FileRecord | undefined;
  await changeAccount(app, owner, async (account) => {
    const { doc } = account;
    // It took too long, or the account has ended: its bytes are removed by another.
    if (!isNoted(account, id)) throw new ApiError('request/timeout');
    if (doc.bytes + draft.bytes > quotas.userBytes) throw new ApiError('storage/quota-exceeded');
    const projectBytes = await app.store.projectBytes(projectId);
    if (projectBytes + draft.bytes > quotas.projectBytes) throw new ApiError('storage/quota-exceeded');
    // Later than all before it: it stands behind them in the list, whatever clock the next machine has.
    const createdAt = Math.max(Date.now(), doc.lastAt + 1);
    record = { ...owner, id, createdAt, ...draft };
    return app.store.commit(account, record);
  });
  return record!;
}

/**
 * Removes what was stored of an upload that came to nothing. First it is given up for good: whatever change is on its way, no file is
 * made of it after that. Tells the file where it had been made, though nobody had heard of it, and whether others remove its bytes.
 * What fails here is done by the remover, from the note.
 */
async function abandon(
  app: AppContext,
  { id, projectId, userId }: Receipt,
  { log }: UploadRequest,
): Promise<{ record?: FileRecord | undefined; isOthers: boolean }> {
  const owner = { projectId, userId };
  let isOthers = false;
  try {
    let record: FileRecord | undefined;
    await changeAccount(app, owner, async (account) => {
      isOthers = !isNoted(account, id);
      if (!isOthers) return app.store.giveUp(account, new Set([id]));
      record = await app.store.made(account, id);
      return true;
    });
    if (record) return { record, isOthers };
    await app.blobs.removeAll(filePrefix({ id, projectId, userId }));
    await changeAccount(app, owner, (account) => app.store.forget(account, id));
  } catch (error) {
    log.warn({ err: error }, 'what is left of an upload is removed later');
  }
  return { isOthers };
}
