import { randomUUID } from 'node:crypto';
import { ApiError } from '@kith/base';
import type { OperationSpec, Upload } from '@kith/contracts';
import type { HttpRequest } from '@kith/service';
import { apart } from '@kith/store';
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
/** Events of new files are told a few at a time: that takes as many questions to the database as one does. */
const gatherMs = 200;

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
  let receipt: Receipt | undefined;
  let due: number | undefined;
  let isBegun = false;
  try {
    const { fields, taken } = await readForm(request.incoming, upload, async (file, before) => {
      const intended = typeof intent === 'function' ? await intent(file, before) : intent;
      if (!intended) return undefined;
      const id = randomUUID();
      let room = 0;
      const checkRoom = (bytes: number) => {
        if (bytes > room) throw new ApiError('storage/quota-exceeded');
      };
      receipt = { ...intended, id, signal: request.signal, checkRoom };
      const late = Date.now() + app.looseMs;
      const onNote = () => {
        due = late;
      };
      const begun = receipt;
      // The file's record carries what the audit log tells, and this note is no file yet.
      room = await apart(() => begin(app, begun, { due: late, quotas, onNote }));
      isBegun = true;
      return receipt.receiver.take(file, receipt);
    });
    if (!receipt) return undefined;
    const draft = await receipt.receiver.finish(taken, fields, receipt);
    request.signal.throwIfAborted();
    const record = await commit(app, receipt, { draft, quotas });
    app.relay.kick({ within: gatherMs });
    return record;
  } catch (error) {
    if (due === undefined || !receipt) throw error;
    const given = receipt;
    const left = await apart(() => abandon(app, given, request));
    if (left.record) return left.record;
    // Then others remove its bytes, and what it has failed at may be that: it came too slowly, or the account has ended.
    if (Date.now() >= due || (isBegun && left.isOthers))
      throw new ApiError('request/timeout', { cause: error });
    throw error;
  } finally {
    if (receipt) await receipt.receiver.release?.(receipt);
  }
}

/** Notes that an upload begins, and resolves with how many bytes more its user may store. Without room nothing is noted. */
async function begin(
  { store, turns }: AppContext,
  { id, projectId, userId }: Receipt,
  { due, quotas, onNote }: { due: number; quotas: Quotas; onNote: () => void },
): Promise<number> {
  const owner = { projectId, userId };
  const [isErased, projectBytes] = await Promise.all([
    store.erased.has(owner),
    store.projectBytes(projectId),
  ]);
  if (isErased) throw new ApiError('auth/unauthorized');
  let room = 0;
  await changeAccount({ store, turns }, owner, async (account) => {
    room = Math.min(quotas.userBytes - account.doc.bytes, quotas.projectBytes - projectBytes);
    if (room <= 0) throw new ApiError('storage/quota-exceeded');
    onNote();
    return store.begin(account, id, due);
  });
  return room;
}

async function commit(
  app: AppContext,
  { projectId, userId, id, imported }: Receipt,
  { draft, quotas }: { draft: Draft; quotas: Quotas },
): Promise<FileRecord> {
  const owner = { projectId, userId };
  let record: FileRecord | undefined;
  // Before its turn: what other uploads end with meanwhile may pass the quota of a project, but others wait no longer.
  const projectBytes = await app.store.projectBytes(projectId);
  await changeAccount(app, owner, async (account) => {
    const { doc } = account;
    // It took too long, or the account has ended: its bytes are removed by another.
    if (!isNoted(account, id)) throw new ApiError('request/timeout');
    if (doc.bytes + draft.bytes > quotas.userBytes) throw new ApiError('storage/quota-exceeded');
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
