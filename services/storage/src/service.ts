import { join } from 'node:path';
import { clocksMs, Turns } from '@kith/base';
import { knownUsers } from '@kith/contracts';
import {
  type HttpIntakeConfig,
  Relay,
  type RunningService,
  type ServiceRuntime,
  Sweeper,
  serviceManifest,
  startService,
} from '@kith/service';
import type { StoreConfig } from '@kith/store';
import { type Blobs, type BlobsConfig, blobsAt, openBlobs, sweepFolder } from '@kith/store/blobs';
import type { AppContext, Quotas } from './app.ts';
import { storageBackup } from './backup.ts';
import { storageConfig } from './config.ts';
import { eraseOwner, lateMs, usersSubscription } from './erasure.ts';
import { Addresses } from './file.ts';
import { draftFolderIn, makeDraftFolder } from './images/draft-folder.ts';
import { Renderer } from './images/renderer.ts';
import { eraseProjectHandler } from './operations/erase-project.ts';
import { exportFilesHandler } from './operations/export-files.ts';
import * as operations from './operations/index.ts';
import { ownImagesHandler } from './operations/own-images.ts';
import * as streams from './operations/streams.ts';
import { Remover } from './remover.ts';
import { openStore } from './store/index.ts';

export interface StorageOptions {
  store: StoreConfig;
  /**
   * Where the bytes are stored, or a store of bytes that is already open. When the service stops, it closes this store, too.
   */
  blobs: BlobsConfig | Blobs;
  http: HttpIntakeConfig | undefined;
  quotas: Quotas;
  /** The URL with which the addresses of files begin. */
  publicUrl?: string | undefined;
  /** A folder that holds images while they are read and rendered. */
  draftFolder: string;
  /** How often the service looks for data that late requests or dead processes have left behind, in ms. The default is 5 s. */
  sweepEveryMs?: number;
  /** How long the bytes of an unfinished upload are kept, in ms. This has to be longer than any upload takes. */
  looseMs?: number;
  /**
   * How old incomplete bytes have to be before the service removes them, in ms. The default is `clocksMs` longer than
   * `looseMs`: in GridFS, the age comes from the clock of the process that stores the bytes.
   */
  incompleteMs?: number;
  /**
   * The maximum time between the end of an upload's form and the answer, in ms. The default is 55 s. This is shorter than the
   * minute for which the gateway waits. If the gateway gets no answer within this minute, it cannot tell the client whether the
   * file was stored.
   */
  answerMs?: number;
}

const mebibyte = 1024 * 1024;
const minute = 60_000;

export const manifest = serviceManifest<AppContext>()({
  name: 'storage',
  config: storageConfig,
  operations,
  streams,
  internal: [eraseProjectHandler, ownImagesHandler, exportFilesHandler],
  asks: [knownUsers],
  emits: ['file', 'audit'],
  subscriptions: [usersSubscription],
  stores: storageBackup,
  start: (runtime, { store, folder, http, config }) =>
    startStorage(runtime, {
      ...{ store, http },
      blobs: blobsOf(config.STORAGE_URL, store, folder),
      publicUrl: config.PUBLIC_URL,
      quotas: {
        projectBytes: config.STORAGE_PROJECT_MIB * mebibyte,
        userBytes: config.STORAGE_USER_MIB * mebibyte,
      },
      draftFolder: draftFolderIn(folder),
    }),
});

/**
 * Where bytes are stored. If no URL is configured, the bytes are stored with the records: in the same MongoDB database, or in a
 * folder near the SQLite file.
 */
function blobsOf(url: string | undefined, store: StoreConfig, folder: string | undefined): BlobsConfig {
  if (url !== undefined) return blobsAt(url);
  if (store.kind === 'mongo') return { kind: 'gridfs', url: store.url, database: store.database };
  return { kind: 'folder', folder: folder ? join(folder, 'files') : `${store.file}.files` };
}

/** Starts the storage service on its own store. Throws `StartError` when the store cannot be used. */
export async function startStorage(
  runtime: ServiceRuntime,
  options: StorageOptions,
): Promise<RunningService> {
  const { sweepEveryMs = 5_000, looseMs = 15 * minute, answerMs = 55_000, draftFolder, quotas } = options;
  const { incompleteMs = looseMs + clocksMs } = options;
  const { bus, log, metrics } = runtime;
  await using undo = new AsyncDisposableStack();
  const store = undo.adopt(await openStore(options.store), (opened) => opened.close());
  const home = 'kind' in options.blobs ? await openBlobs(options.blobs) : options.blobs;
  const blobs = undo.adopt(home, (opened) => opened.close());
  const relay = undo.adopt(new Relay({ bus, outbox: store.outbox, log, metrics }), (one) => one.stop());
  const turns = new Turns();
  const remover = undo.adopt(new Remover({ store, blobs, turns }, { everyMs: sweepEveryMs, log }), (one) =>
    one.stop(),
  );
  await makeDraftFolder(draftFolder);
  const app: AppContext = {
    ...{ store, blobs, bus, relay, remover, turns, quotas, draftFolder, looseMs, answerMs },
    renderer: new Renderer(),
    addresses: new Addresses(options.publicUrl),
  };
  const every = { everyMs: sweepEveryMs, log };
  const sweeps = [
    new Sweeper(() => store.sweep(), every),
    store.erased.sweeper((owner) => eraseOwner(app, owner), { lateMs, ...every }),
  ];
  for (const sweep of sweeps) undo.adopt(sweep, (one) => one.stop());
  // This sweep may take long if many bytes are stored, so the other sweeps do not wait for it.
  const sweepBytes = async () => {
    await sweepFolder(draftFolder, looseMs);
    await blobs.sweep(incompleteMs);
  };
  const everyMs = Math.max(sweepEveryMs, looseMs);
  const byteSweeper = undo.adopt(new Sweeper(sweepBytes, { everyMs, log }), (one) => one.stop());
  byteSweeper.kick();
  const service = await startService<AppContext>(runtime, manifest, {
    app,
    outbox: store.outbox,
    replies: store.replies,
    background: [...sweeps, byteSweeper, remover, relay],
    checkStore: async () => {
      await store.check();
      await blobs.check();
    },
    close: async () => {
      await blobs.close();
      await store.close();
    },
    http: options.http,
  });
  undo.move();
  return service;
}
