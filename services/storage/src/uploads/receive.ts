import { randomUUID } from 'node:crypto';
import { ApiError } from '@kith/base';
import type { OperationSpec, Upload } from '@kith/contracts';
import type { HttpRequest } from '@kith/service';
import { changeAccount, isNoted } from '../account.ts';
import type { AppContext, Quotas } from '../app.ts';
import { bytesIdOf, type FileRecord, filePrefix, type Owner } from '../file.ts';
import { type FormFields, type FormFile, readForm } from './form.ts';

/** What of a request is asked for here. */
export type UploadRequest = Pick<HttpRequest<OperationSpec>, 'incoming' | 'signal' | 'storageMib' | 'log'>;

/** What becomes of a form: first of its file, while it comes in, then of the whole. */
export interface Receiver<T> {
  /** Takes the file's bytes to where they are kept. */
  take(file: FormFile, of: Receipt): Promise<T>;
  /** Makes the record of it, with all its bytes stored. */
  finish(taken: T, fields: FormFields, of: Receipt): Promise<Draft>;
  /** Lets go of what `take` has kept beside the store. */
  release?(of: Receipt): Promise<void>;
}

/** What is to become of an upload: whose file, and how it is received. */
export interface Intent extends Owner {
  receiver: Receiver<unknown>;
  /** What another backend says of a file that it had. */
  imported?: { id: string; createdAt: number };
}

/** An upload on its way. */
export interface Receipt extends Intent {
  /** The id under which its bytes lie, and of the file that is to be unless it has one. */
  id: string;
  signal: AbortSignal;
  /** Throws `storage/quota-exceeded` where so many bytes are more than may be stored. */
  checkRoom(bytes: number): void;
}

/** What is intended with a file, by the fields before it. */
export type IntentOf = (file: FormFile, before: FormFields) => Promise<Intent | undefined>;

const mebibyte = 1024 * 1024;

export type Draft = Pick<FileRecord, 'original' | 'bytes' | 'contentType' | 'name' | 'image'>;

/**
 * Receives a file. Before its first byte is stored it is noted that there may be bytes under its id. The file's record and the end of
 * that note are one write: whenever a process dies, there is the whole file, or a note of what is to be removed (docs/adr/0045).
 * What is intended may hang on the fields before the file; where that is nothing, whoever says so has read the bytes, and nothing is
 * stored.
 */
export async function receive(
  request: UploadRequest,
  app: AppContext,
  of: { upload: Upload; intent: Intent },
): Promise<FileRecord>;
export async function receive(
  request: UploadRequest,
  app: AppContext,
  of: { upload: Upload; intent: IntentOf },
): Promise<FileRecord | undefined>;
export async function receive(
  request: UploadRequest,
  app: AppContext,
  { upload, intent }: { upload: Upload; intent: Intent | IntentOf },
): Promise<FileRecord | undefined> {
  const projectBytes =
    request.storageMib === undefined ? app.quotas.projectBytes : request.storageMib * mebibyte;
  const quotas = { ...app.quotas, projectBytes };
  const open = async (intended: Intent): Promise<Receipt> => {
    const room = await roomOf(app, intended, quotas);
    if (room <= 0) throw new ApiError('storage/quota-exceeded');
    const checkRoom = (bytes: number) => {
      if (bytes > room) throw new ApiError('storage/quota-exceeded');
    };
    return { ...intended, id: randomUUID(), signal: request.signal, checkRoom };
  };
  // Without room nothing of the form is read.
  let receipt = typeof intent === 'function' ? undefined : await open(intent);
  let due: number | undefined;
  let isBegun = false;
  try {
    const { fields, taken } = await readForm(request.incoming, upload, async (file, before) => {
      if (typeof intent === 'function') {
        const intended = await intent(file, before);
        if (!intended) return undefined;
        receipt = await open(intended);
      }
      const opened = receipt as Receipt;
      due = Date.now() + app.looseMs;
      await note(app, opened, due);
      isBegun = true;
      return opened.receiver.take(file, opened);
    });
    if (!receipt) return undefined;
    const draft = await receipt.receiver.finish(taken, fields, receipt);
    request.signal.throwIfAborted();
    const record = await commit(app, receipt, { draft, quotas });
    app.relay.kick();
    return record;
  } catch (error) {
    if (due === undefined || !receipt) throw error;
    const left = await abandon(app, receipt, request);
    if (left.record) return left.record;
    // Then others remove its bytes, and what it has failed at may be that: it came too slowly, or the account has ended.
    if (Date.now() >= due || (isBegun && left.isOthers))
      throw new ApiError('request/timeout', { cause: error });
    throw error;
  } finally {
    if (receipt) await receipt.receiver.release?.(receipt);
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

async function note(app: AppContext, { id, projectId, userId }: Receipt, due: number): Promise<void> {
  const owner = { projectId, userId };
  if (await app.store.erased.has(owner)) throw new ApiError('auth/unauthorized');
  await changeAccount(app, owner, (account) => app.store.begin(account, id, due));
}

async function commit(
  app: AppContext,
  { projectId, userId, id, imported }: Receipt,
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
    if (!imported) return app.store.commit(account, record);
    if (await app.store.made(account, imported.id))
      throw new Error('Another request has imported this file.');
    record = { ...record, ...imported, bytesId: id };
    return app.store.commit(account, record, { isImported: true });
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
  { id, projectId, userId, imported }: Receipt,
  { log }: UploadRequest,
): Promise<{ record?: FileRecord | undefined; isOthers: boolean }> {
  const owner = { projectId, userId };
  let isOthers = false;
  try {
    let record: FileRecord | undefined;
    await changeAccount(app, owner, async (account) => {
      isOthers = !isNoted(account, id);
      if (!isOthers) return app.store.giveUp(account, new Set([id]));
      const made = await app.store.made(account, imported?.id ?? id);
      if (made && bytesIdOf(made) === id) record = made;
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
