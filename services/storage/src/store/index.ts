import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileCreated, fileDeleted } from '@kith/contracts';
import { ErasedUsers, eraseProject } from '@kith/service';
import {
  type DocumentChange,
  type Documents,
  type IdRange,
  type Outbox,
  type Replies,
  replyCollection,
  type StoreConfig,
  type Stored,
  timeKey,
} from '@kith/store';
import { openDocuments } from '@kith/store/open';
import { bytesIdOf, type FileRecord, fileEvent, type Owner } from '../file.ts';
import {
  accounts,
  claims,
  declared,
  dueKey,
  files,
  type Loose,
  type StoredAccount,
  type StoredClaim,
  type StoredFileRow,
  usage,
} from './collections.ts';
import { accountId, accountOwner, claimId, filePlace, fileRange, placedFile, usageId } from './place.ts';

/** A user's account as it was read. If there is no account yet, `stored` is undefined. */
export interface Account {
  owner: Owner;
  stored: Stored<StoredAccount> | undefined;
  doc: StoredAccount;
}

/** A claim on the id of an imported file, as it was read. */
export type Claim = Stored<StoredClaim>;

const none: StoredAccount = { files: 0, bytes: 0, seq: 0, lastAt: 0, loose: [] };
/** How many rows one step of an erasure removes. */
const atOnce = 500;

/**
 * The store of the records of files. Every change of a user's files also changes one document, the user's account. The account
 * says how much the user has stored. It also lists the ids under which bytes without a file may be stored. These are the bytes
 * of unfinished uploads and of deleted files. So the bytes of every file are complete, and bytes without a file can be found
 * and removed (docs/adr/0045).
 */
export class FileStore {
  readonly outbox: Outbox;
  /** The stored answers to requests with an idempotency key. */
  readonly replies: Replies | undefined;
  readonly erased: ErasedUsers;
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
    this.outbox = documents.outbox;
    this.replies = documents.replies;
    this.erased = new ErasedUsers(documents);
  }

  async account(owner: Owner): Promise<Account> {
    const id = accountId(owner);
    const stored = (await this.#documents.get(accounts, [id])).get(id);
    return { owner, stored, doc: stored?.doc ?? none };
  }

  /** How many bytes a project has stored. */
  async projectBytes(projectId: string): Promise<number> {
    const id = usageId(projectId);
    return (await this.#documents.sums(usage, [id])).get(id)?.bytes ?? 0;
  }

  /** Finds a file by its id. The file may belong to any user. */
  async find(projectId: string, id: string): Promise<FileRecord | undefined> {
    const key = `${projectId}|${id}`;
    const [row] = (await this.#documents.by(files, 'id', [key])).get(key) ?? [];
    return row && fileOf(row);
  }

  /**
   * Finds a file by its id, as `find` does, but first completes the last change of the account. So a file that was just stored
   * is found, and a file that was just deleted is not.
   */
  async made({ owner, stored }: Account, id: string): Promise<FileRecord | undefined> {
    if (stored) await this.#documents.settle(accounts, stored);
    return this.find(owner.projectId, id);
  }

  /** Some of an owner's files, newest first. */
  async list(
    account: Account,
    { skip = 0, after, limit }: { skip?: number; after?: string; limit: number },
  ): Promise<FileRecord[]> {
    if (account.stored) await this.#documents.settle(accounts, account.stored);
    const range = fileRange(account.owner);
    const below = after === undefined ? range.below : `${range.above}${after}`;
    const rows = await this.#documents.range(files, {
      above: range.above,
      below,
      skip,
      limit,
      backwards: true,
    });
    return rows.map(fileOf);
  }

  /**
   * Stores a note that bytes will be stored under the id `fileId`. If there is no file with these bytes at the time `due`, the
   * bytes are removed. Returns `false` if another change came first.
   */
  begin(account: Account, fileId: string, due: number): Promise<boolean> {
    const { doc } = account;
    return this.#change(account, { ...doc, loose: [...doc.loose, { fileId, due }] });
  }

  /**
   * Makes a file from bytes that have a note. An imported file has no event (docs/adr/0018). Returns `false` if another change
   * came first.
   */
  commit(account: Account, file: FileRecord, { isImported = false } = {}): Promise<boolean> {
    const { doc } = account;
    const after: StoredAccount = {
      files: doc.files + 1,
      bytes: doc.bytes + file.bytes,
      seq: doc.seq + (isImported ? 0 : 1),
      // An imported file may have a time in the future. Later uploads must not get times in the future because of that.
      lastAt: Math.max(doc.lastAt, isImported ? Math.min(file.createdAt, Date.now()) : file.createdAt),
      loose: doc.loose.filter(({ fileId }) => fileId !== bytesIdOf(file)),
    };
    return this.#change(account, after, {
      rows: [{ in: files, id: filePlace(file), put: storedOf(file) }],
      counters: [{ in: usage, id: usageId(file.projectId), add: { files: 1, bytes: file.bytes } }],
      ...(!isImported && { events: [fileEvent(fileCreated, file, after.seq)] }),
    });
  }

  /**
   * Claims the id of an imported file for its owner, until `until` (Unix ms). By then, the upload has failed, or the file
   * exists, so that no other user can use its id. Returns `false` if another user has claimed the id.
   */
  async claim({ projectId, userId }: Owner, fileId: string, until: number): Promise<boolean> {
    const id = claimId({ projectId, id: fileId });
    for (;;) {
      const there = (await this.#documents.get(claims, [id])).get(id);
      if (there && there.doc.userId !== userId) return false;
      const set = { userId, until: Math.max(until, there?.doc.until ?? 0) };
      const [outcome] = await this.#documents.change([{ in: claims, target: there ?? id, set }]);
      if (outcome === 'made') return true;
    }
  }

  /** The claim of a file's owner on the file's id, as it is now. */
  async claimOn(file: FileRecord): Promise<Claim | undefined> {
    const id = claimId(file);
    const claim = (await this.#documents.get(claims, [id])).get(id);
    return claim?.doc.userId === file.userId ? claim : undefined;
  }

  /**
   * Erases a claim immediately, instead of waiting until it expires. Does nothing if the claim has changed since it was read.
   */
  async release(claim: Claim): Promise<void> {
    await this.#documents.erase(claims, claim);
  }

  /**
   * Deletes a file, and notes in the account that the file's bytes must be removed immediately. Returns `false` if another
   * change came first.
   */
  delete(account: Account, file: FileRecord): Promise<boolean> {
    const { doc } = account;
    const after: StoredAccount = {
      ...doc,
      files: doc.files - 1,
      bytes: doc.bytes - file.bytes,
      seq: doc.seq + 1,
      loose: [...doc.loose, { fileId: bytesIdOf(file), due: 0, isDead: true }],
    };
    return this.#change(account, after, {
      rows: [{ in: files, id: filePlace(file), put: null }],
      counters: [{ in: usage, id: usageId(file.projectId), add: { files: -1, bytes: -file.bytes } }],
      events: [fileEvent(fileDeleted, file, after.seq)],
    });
  }

  /** Removes the note of bytes that have been removed. Returns `false` if another change came first. */
  async forget(account: Account, fileId: string): Promise<boolean> {
    const { doc } = account;
    // If there is no note, another process has removed it, or the account is gone. In both cases nothing is stored, so that a
    // missing account is not created again.
    if (!doc.loose.some((one) => one.fileId === fileId)) return true;
    return this.#change(account, { ...doc, loose: doc.loose.filter((one) => one.fileId !== fileId) });
  }

  /**
   * Makes sure that the given bytes cannot become a file any more, and that they are removed immediately. Returns `false` if
   * another change came first.
   */
  async giveUp(account: Account, fileIds: ReadonlySet<string>): Promise<boolean> {
    const { doc } = account;
    // If no note says that these bytes may still become a file, nothing has to be changed. The account may even be gone, and
    // must then not be created again.
    if (!doc.loose.some(({ fileId, isDead }) => fileIds.has(fileId) && !isDead)) return true;
    const loose = doc.loose.map(
      (one): Loose => (fileIds.has(one.fileId) ? { fileId: one.fileId, due: 0, isDead: true } : one),
    );
    return this.#change(account, { ...doc, loose });
  }

  /**
   * Accounts with bytes that are due to be removed. If `after` is given, returns only accounts that come after this account in
   * the index.
   */
  async due(now: number, limit: number, after?: Account): Promise<Account[]> {
    const above = after ? (dueKey(after.doc, accountId(after.owner)) ?? '') : '';
    const range = { above, below: timeKey(now + 1), limit };
    const some = await this.#documents.range(accounts, range, 'due');
    return some.map((stored) => ({ owner: accountOwner(stored.id), stored, doc: stored.doc }));
  }

  /**
   * Empties the account of a deleted user, so that no upload in progress can still make a file in it. Returns `false` if
   * another change came first.
   */
  async empty(account: Account): Promise<boolean> {
    if (!account.stored) return true;
    const { doc, owner } = account;
    const after: StoredAccount = { ...doc, files: 0, bytes: 0, loose: [] };
    const taken = { files: -doc.files, bytes: -doc.bytes };
    return this.#change(account, after, {
      erases: true,
      ...(doc.files > 0 && { counters: [{ in: usage, id: usageId(owner.projectId), add: taken }] }),
    });
  }

  /**
   * Erases what is left of a user whose account was emptied. Returns `false` as long as a change of the account is not
   * complete.
   */
  async erase(owner: Owner): Promise<boolean> {
    const id = accountId(owner);
    const stored = (await this.#documents.get(accounts, [id], { settled: true })).get(id);
    for (let left: readonly IdRange[] = [fileRange(owner)]; left.length > 0; ) {
      left = await this.#documents.clearRows(files, left, atOnce);
      await nextTurn();
    }
    return stored === undefined || this.#documents.erase(accounts, stored);
  }

  /** Erases the claims of a user. */
  async eraseClaims(owner: Owner): Promise<void> {
    for (let erased = atOnce; erased === atOnce; ) {
      const some = await this.#documents.range(claims, { ...fileRange(owner), limit: atOnce }, 'user');
      erased = await this.#documents.eraseAll(claims, some);
      await nextTurn();
    }
  }

  /** Erases what is left of a deleted project. Returns `false` while there are still accounts, files or claims of its users. */
  eraseProject(projectId: string): Promise<boolean> {
    return eraseProject(this.#documents, projectId, {
      awaited: [accounts, files, claims],
      cleared: [usage, replyCollection],
    });
  }

  sweep(): Promise<void> {
    return this.#documents.sweep();
  }

  /** Rejects when the store cannot be used. */
  check(): Promise<void> {
    return this.#documents.check();
  }

  close(): Promise<void> {
    return this.#documents.close();
  }

  async #change(
    { owner, stored }: Account,
    set: StoredAccount,
    more: Omit<DocumentChange<StoredAccount>, 'in' | 'target' | 'set'> = {},
  ): Promise<boolean> {
    const change = { in: accounts, target: stored ?? accountId(owner), set, ...more };
    return (await this.#documents.change([change]))[0] === 'made';
  }
}

/** Opens the store of the configured kind and brings its schema up to date. Throws `StartError`. */
export async function openStore(config: StoreConfig): Promise<FileStore> {
  return new FileStore(await openDocuments(config, declared));
}

function fileOf({ id: place, doc }: Stored<StoredFileRow>): FileRecord {
  return { ...placedFile(place), ...doc };
}

function storedOf({ bytesId, original, bytes, contentType, name, image }: FileRecord): StoredFileRow {
  return { ...(bytesId && { bytesId }), original, bytes, contentType, name, ...(image && { image }) };
}
