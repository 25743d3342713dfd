import { randomUUID } from 'node:crypto';
import { ApiError } from '@kith/base';
import type { OperationSpec, Upload } from '@kith/contracts';
import type { HttpRequest } from '@kith/service';
import { apart } from '@kith/store';
import { changeAccount, isNoted } from '../account.ts';
import type { AppContext, Quotas } from '../app.ts';
import { bytesIdOf, type FileRecord, filePrefix, type Owner } from '../file.ts';
import { type FormFields, type FormFile, readForm } from './form.ts';

/** The parts of a request that are needed here. */
export type UploadRequest = Pick<HttpRequest<OperationSpec>, 'incoming' | 'signal' | 'storageMib' | 'log'>;

/** How a form is handled: first its file, while it comes in, then the whole form. */
export interface Receiver<T> {
  /** Stores the file's bytes, or keeps them until `finish`. */
  take(file: FormFile, of: Receipt): Promise<T>;
  /** Makes the file's record. When it resolves, all bytes of the file are stored. */
  finish(taken: T, fields: FormFields, of: Receipt): Promise<Draft>;
  /** Removes what `take` has kept outside the store. */
  release?(of: Receipt): Promise<void>;
}

/** Who will own the uploaded file, and how it is received. */
export interface Intent extends Owner {
  receiver: Receiver<unknown>;
  /** For an imported file: its id and time in the other backend. */
  imported?: { id: string; createdAt: number };
}

/** An upload in progress. */
export interface Receipt extends Intent {
  /** The id under which the bytes are stored. It becomes the file's id, unless the file is imported and has one. */
  id: string;
  signal: AbortSignal;
  /** Throws `storage/quota-exceeded` if there is no room for this many bytes. */
  checkRoom(bytes: number): void;
}

/** Decides from the fields before a file what to do with it; `undefined` to store nothing. */
export type IntentOf = (file: FormFile, before: FormFields) => Promise<Intent | undefined>;

const mebibyte = 1024 * 1024;
/** How long events of new files are gathered. Publishing a few together takes as many database queries as publishing one. */
const gatherMs = 200;

export type Draft = Pick<FileRecord, 'original' | 'bytes' | 'contentType' | 'name' | 'image'>;

/**
 * Receives a file. Before its first byte is stored, a note says that there may be bytes under its id. One write stores the
 * file's record and removes the note: so if a process dies, there is either the whole file or a note of what to remove
 * (docs/adr/0045). `intent` may depend on the fields before the file. If it resolves to nothing, it has to have read the bytes
 * itself, and nothing is stored.
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
      // Kept apart from the audit log: its row is stored with the file's record, and this note is no file yet.
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
    // Others remove the bytes, because the upload was too slow or the account has ended. This may also be why it has failed.
    if (Date.now() >= due || (isBegun && left.isOthers))
      throw new ApiError('request/timeout', { cause: error });
    throw error;
  } finally {
    if (receipt) await receipt.receiver.release?.(receipt);
  }
}

/** Notes that an upload begins, and resolves with how many more bytes may be stored. If there is no room, nothing is noted. */
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
  // Read before the turn, so that others need not wait for it. So uploads that end at the same time may exceed the project's quota.
  const projectBytes = await app.store.projectBytes(projectId);
  await changeAccount(app, owner, async (account) => {
    const { doc } = account;
    // The upload took too long, or the account has ended: another process removes its bytes.
    if (!isNoted(account, id)) throw new ApiError('request/timeout');
    if (doc.bytes + draft.bytes > quotas.userBytes) throw new ApiError('storage/quota-exceeded');
    if (projectBytes + draft.bytes > quotas.projectBytes) throw new ApiError('storage/quota-exceeded');
    // Later than all earlier files, so that the order of the list is right even if the machines' clocks differ.
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
 * Removes what was stored of a failed upload. It first gives the upload up for good, so that no change under way can make a
 * file of it. Returns the file if it turns out to have been made already, and whether others remove the bytes. If anything fails
 * here, the upload's note remains, and by it the remover finds the bytes later.
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
