import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreConfig } from '@kith/store';
import { type Blobs, openBlobs } from '@kith/store/blobs';
import { type BlobHomeKind, createBlobHome, createStore, type EngineKind } from '@kith/testing';
import type { FileRecord, Owner } from '../../src/file.ts';
import type { Loose } from '../../src/store/collections.ts';
import { type FileStore, openStore } from '../../src/store/index.ts';

/** The stored data of a user, and all keys in the store of bytes. */
export interface Held {
  /** `files`, `bytes` and `loose` are the values in the user's account. */
  files: number;
  bytes: number;
  loose: readonly Loose[];
  /** How many bytes the project has stored, according to its counter. */
  projectBytes: number;
  rows: readonly FileRecord[];
  /** All keys in the store of bytes, of any user, sorted. */
  keys: readonly string[];
  /**
   * The number of incomplete files in the store of bytes, plus the number of images that are being received or rendered in the
   * draft folder.
   */
  unfinished: number;
}

/** Where a service stores its data. The data is still there after the service has stopped. */
export interface Place extends AsyncDisposable {
  config: {
    store: StoreConfig;
    blobs: Awaited<ReturnType<typeof createBlobHome>>['config'];
    draftFolder: string;
  };
  store: FileStore;
  blobs: Blobs;
  held(owner: Owner): Promise<Held>;
}

/** The kind of byte store that is used with an engine by default. */
export function homeOf(engine: EngineKind): BlobHomeKind {
  return engine === 'embedded' ? 'folder' : 'gridfs';
}

/** Makes an empty store of records and an empty store of bytes. */
export async function createPlace(engine: EngineKind, kind: BlobHomeKind = homeOf(engine)): Promise<Place> {
  await using undo = new AsyncDisposableStack();
  const { config: storeConfig } = undo.use(await createStore(engine));
  const home = undo.use(await createBlobHome(kind));
  const { path: draftFolder } = undo.use(await mkdtempDisposable(join(tmpdir(), 'kith-drafts-')));
  const store = undo.adopt(await openStore(storeConfig), (opened) => opened.close());
  const blobs = undo.adopt(await openBlobs(home.config), (opened) => opened.close());
  const kept = undo.move();
  return {
    config: { store: storeConfig, blobs: home.config, draftFolder },
    store,
    blobs,
    async held(owner) {
      const account = await store.account(owner);
      const keys: string[] = [];
      for await (const { key } of blobs.list()) keys.push(key);
      const { files, bytes, loose } = account.doc;
      return {
        ...{ files, bytes, loose, keys: keys.toSorted() },
        projectBytes: await store.projectBytes(owner.projectId),
        rows: await store.list(account, { limit: 100 }),
        unfinished: (await home.unfinished()) + (await readdir(draftFolder)).length,
      };
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
