import { randomUUID } from 'node:crypto';
import { ApiError, clocksMs } from '@kith/base';
import type { OperationSpec, Upload } from '@kith/contracts';
import type { HttpRequest } from '@kith/service';
import { apart } from '@kith/store';
import { type AccountChange, changeAccount, isNoted, type Wanted } from '../account.ts';
import type { AppContext, Quotas } from '../app.ts';
import { bytesIdOf, type FileRecord, filePrefix, type Owner } from '../file.ts';
import { type FormFields, type FormFile, readForm } from './form.ts';

/** The fields of a request that an upload needs. */
export type UploadRequest = Pick<HttpRequest<OperationSpec>, 'incoming' | 'signal' | 'storageMib' | 'log'>;

/** Handles an uploaded form: first its file, while the form is still coming in, and then the whole form. */
export interface Receiver<T> {
  /** Stores the file's bytes, or keeps the bytes until `finish`. */
  take(file: FormFile, of: Receipt): Promise<T>;
  /**
   * Stores all bytes of the file that are not stored yet. Then resolves with the data for the file's record, at the latest at
   * `answerBy` (Unix ms).
   */
  finish(taken: T, fields: FormFields, of: Receipt & { answerBy: number }): Promise<Draft>;
  /** Removes the temporary files in which `take` has kept bytes. */
  release?(of: Receipt): Promise<void>;
}

/** Who will own the uploaded file, and how the file is received. */
export interface Intent extends Owner {
  receiver: Receiver<unknown>;
  /** Only for an imported file: its id and its upload time in the backend that it comes from. */
  imported?: { id: string; createdAt: number };
}

/** An upload in progress. */
export interface Receipt extends Intent {
  /** The id under which the bytes are stored. It becomes the file's id, except for an imported file, which has its own id. */
  id: string;
  /**
   * Aborted when the request ends, when the note of the upload cannot be stored, or when the upload is not finished in time.
   */
  signal: AbortSignal;
  /**
   * Resolves when the note of the upload is stored. Until then, the bytes must not be completed in the store. Otherwise, if
   * this process died, there would be complete bytes without a file, and nothing would say so.
   */
  noted: Promise<void>;
  /**
   * Throws `storage/quota-exceeded` if there is no room for this many bytes. The free room is known only after the note of the
   * upload is stored. Before that, this method never throws.
   */
  checkRoom(bytes: number): void;
}

/**
 * Decides what to do with a file. `before` contains only the fields that came before the file. Returns `undefined` if nothing
 * is to be stored.
 */
export type IntentOf = (file: FormFile, before: FormFields) => Promise<Intent | undefined>;

/**
 * Thrown if the id of an imported file already belongs to a file of another user, or is claimed by another user. Nothing of the
 * import is stored.
 */
export class IdTaken extends Error {
  override name = 'IdTaken';
}

const mebibyte = 1024 * 1024;
/**
 * How long a change of an account may wait for its turn and be tried, in ms. The deadline of the request cannot be used for
 * this. An upload has no deadline: it may go on as long as the client keeps sending. After the client has sent the last byte,
 * the gateway waits twice this time (60 s) for the answer.
 */
const changeMs = 30_000;
/**
 * After a new file, the service waits this long, in ms, for further new files. Then it publishes the events of all these files
 * together. This takes only as many database queries as publishing one event.
 */
const gatherMs = 200;

export type Draft = Pick<FileRecord, 'original' | 'bytes' | 'contentType' | 'name' | 'image'>;

/**
 * Receives a file. Before the file's bytes are complete in the store, a note is stored, which says that there may be bytes
 * under the upload's id. If the process dies before the note is stored, the bytes are incomplete, and the store of bytes
 * removes incomplete bytes by itself. One write stores the file's record and removes the note. So if a process dies later,
 * there is either the complete file or a note of the bytes that have to be removed (docs/adr/0045). `intent` may be a function,
 * which gets the file and the fields that came before the file. If this function resolves to `undefined`, nothing is stored. In
 * this case, the function has to read the bytes of the file itself before it resolves.
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
  let receipt: NotedReceipt | undefined;
  try {
    const { fields, taken } = await readForm(request.incoming, upload, async (file, before) => {
      const intended = typeof intent === 'function' ? await intent(file, before) : intent;
      if (!intended) return undefined;
      receipt = noteUpload(app, request, { intent: intended, quotas });
      return receipt.receiver.take(file, receipt);
    });
    if (!receipt) return undefined;
    const answerBy = Date.now() + app.answerMs;
    const draft = await finish(receipt, { taken, fields, answerBy });
    request.signal.throwIfAborted();
    const record = await commit(app, receipt, { draft, quotas, wanted: wanted(request.signal, answerBy) });
    app.relay.kick({ within: gatherMs });
    return record;
  } catch (error) {
    if (!receipt) throw error;
    const given = receipt;
    // When the signal is aborted, streams and files throw errors of their own. But the real cause is the reason with which the
    // signal was aborted.
    const cause = given.refused.signal.aborted ? given.refused.signal.reason : error;
    const isNoted = await given.noted.then(
      () => true,
      () => false,
    );
    if (!given.mayBeNoted) throw cause;
    const left = await apart(() => abandon(app, given, request));
    if (left.record) return left.record;
    // Another process removes the bytes if the upload was too slow, or if the user's account has ended. So the upload has
    // probably failed for one of these reasons, and the client gets `request/timeout`.
    if (Date.now() >= given.due || (isNoted && left.isOthers))
      throw new ApiError('request/timeout', { cause });
    throw cause;
  } finally {
    if (receipt) await release(receipt, request);
  }
}

/**
 * Removes the temporary files of an upload. Never rejects: the file may be stored already, and the sweep removes temporary
 * files that are left.
 */
async function release(receipt: NotedReceipt, { log }: UploadRequest): Promise<void> {
  try {
    await receipt.receiver.release?.(receipt);
  } catch (error) {
    log.warn({ err: error }, 'the temporary files of an upload could not be removed; they are removed later');
  }
}

interface NotedReceipt extends Receipt {
  /** The time from which other processes may remove the upload's bytes, Unix ms. */
  due: number;
  /** Whether the note is perhaps stored already. This is true from the moment when the service begins to write the note. */
  mayBeNoted: boolean;
  /**
   * Aborted, with the error as the reason, when the note of the upload cannot be stored, or when the upload is not finished in
   * time.
   */
  refused: AbortController;
}

/**
 * Begins to store the note of an upload, while the first bytes come in. If the note cannot be stored, aborts the upload's
 * signal with the error.
 */
function noteUpload(
  app: AppContext,
  request: UploadRequest,
  { intent, quotas }: { intent: Intent; quotas: Quotas },
): NotedReceipt {
  const refused = new AbortController();
  let room = Number.POSITIVE_INFINITY;
  const receipt: NotedReceipt = {
    ...intent,
    id: randomUUID(),
    due: Date.now() + app.looseMs,
    mayBeNoted: false,
    refused,
    signal: AbortSignal.any([request.signal, refused.signal]),
    noted: Promise.resolve(),
    checkRoom: (bytes) => {
      if (bytes > room) throw new ApiError('storage/quota-exceeded');
    },
  };
  // `apart` stores the note without the request's row of the audit log. This row reports a success, and there is no file yet.
  // The row is stored later, together with the file's record.
  receipt.noted = apart(() => begin(app, receipt, quotas)).then((left) => {
    room = left;
  });
  receipt.noted.catch((error) => refused.abort(error));
  return receipt;
}

/**
 * Stores a note that an upload begins, and resolves with the number of bytes that may still be stored. Stores nothing if the
 * bytes that are already stored exceed a quota. If they use up the quota exactly, there is still room for an empty file.
 */
async function begin({ store, turns }: AppContext, receipt: NotedReceipt, quotas: Quotas): Promise<number> {
  const { id, projectId, userId, due } = receipt;
  const owner = { projectId, userId };
  // To save time, the user's erasure mark and the project's bytes are read at the same time as the account.
  const read = Promise.all([store.erased.has(owner), store.projectBytes(projectId)]);
  read.catch(() => undefined);
  let room = 0;
  const begun: AccountChange = async (account) => {
    const [isErased, projectBytes] = await read;
    if (isErased)
      throw new ApiError('auth/unauthorized', { message: 'The account of this access token was deleted.' });
    room = Math.min(quotas.userBytes - account.doc.bytes, quotas.projectBytes - projectBytes);
    if (room < 0) throw new ApiError('storage/quota-exceeded');
    receipt.mayBeNoted = true;
    return store.begin(account, id, due);
  };
  await changeAccount({ store, turns }, owner, begun, wanted(receipt.signal));
  return room;
}

function wanted(signal?: AbortSignal, answerBy = Number.POSITIVE_INFINITY): Wanted {
  return { deadline: Math.min(Date.now() + changeMs, answerBy), signal };
}

/** Makes the file's record. If the record is not made by `answerBy`, aborts the upload's signal with `gateway/unavailable`. */
async function finish(
  receipt: NotedReceipt,
  { taken, fields, answerBy }: { taken: unknown; fields: FormFields; answerBy: number },
): Promise<Draft> {
  const late = setTimeout(
    () => receipt.refused.abort(new ApiError('gateway/unavailable')),
    answerBy - Date.now(),
  );
  try {
    return await receipt.receiver.finish(taken, fields, { ...receipt, answerBy });
  } finally {
    clearTimeout(late);
  }
}

async function commit(
  app: AppContext,
  { projectId, userId, id, imported, due }: NotedReceipt,
  { draft, quotas, wanted }: { draft: Draft; quotas: Quotas; wanted: Wanted },
): Promise<FileRecord> {
  const owner = { projectId, userId };
  let record: FileRecord | undefined;
  // The changes of one account wait for each other. The project's bytes are read while this change waits for its turn, so that
  // the read does not make other changes of the account wait longer. When the turn comes, the number of these bytes may be
  // outdated. So uploads that end at the same time may together exceed the project's quota.
  const read = app.store.projectBytes(projectId);
  read.catch(() => undefined);
  // The check in the account prevents two uploads of this user from using the same id. The claim prevents an upload of another
  // user from using the id.
  if (imported && !(await app.store.claim(owner, imported.id, claimEnd(due)))) throw new IdTaken();
  const made: AccountChange = async (account) => {
    const { doc } = account;
    const projectBytes = await read;
    // The account no longer contains a note of this upload if the upload took too long, or if the user's account has ended. In
    // both cases, another process removes the upload's bytes.
    if (!isNoted(account, id)) throw new ApiError('request/timeout');
    if (doc.bytes + draft.bytes > quotas.userBytes) throw new ApiError('storage/quota-exceeded');
    if (projectBytes + draft.bytes > quotas.projectBytes) throw new ApiError('storage/quota-exceeded');
    // The time of the new file is later than that of all earlier files. So the list has the right order, even if the clocks of
    // the machines differ.
    const createdAt = Math.max(Date.now(), doc.lastAt + 1);
    record = { ...owner, id, createdAt, ...draft };
    if (!imported) return app.store.commit(account, record);
    const there = await app.store.made(account, imported.id);
    if (there && there.userId !== userId) throw new IdTaken();
    if (there) throw new ApiError('gateway/unavailable', { message: importedMeanwhile });
    record = { ...record, ...imported, bytesId: id };
    return app.store.commit(account, record, { isImported: true });
  };
  await changeAccount(app, owner, made, wanted);
  return record!;
}

const importedMeanwhile = 'Another request has just imported this file. Nothing was changed. Try again.';

/**
 * The time at which a claim expires. It is so late that the upload can no longer make its file, even if the clocks of the
 * replicas differ.
 */
function claimEnd(due: number): number {
  return due + 2 * clocksMs;
}

/**
 * Removes the stored bytes of a failed upload. First marks the upload as given up, so that a change which is still running
 * cannot make a file from it. If the upload has become a file nevertheless, returns the file. `isOthers` is true if another
 * process removes the bytes. If a step fails here, the note of the upload stays in the account, so the remover removes the
 * bytes later.
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
    const givenUp: AccountChange = async (account) => {
      isOthers = !isNoted(account, id);
      if (!isOthers) return app.store.giveUp(account, new Set([id]));
      const made = await app.store.made(account, imported?.id ?? id);
      if (made && bytesIdOf(made) === id) record = made;
      return true;
    };
    await changeAccount(app, owner, givenUp, wanted());
    if (record) return { record, isOthers };
    await app.blobs.removeAll(filePrefix({ id, projectId, userId }));
    await changeAccount(app, owner, (account) => app.store.forget(account, id), wanted());
  } catch (error) {
    log.warn({ err: error }, 'the remains of an upload could not be removed; they are removed later');
  }
  return { isOthers };
}
