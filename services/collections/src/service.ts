import { Turns } from '@kith/base';
import { knownUsers } from '@kith/contracts';
import {
  Relay,
  type RunningService,
  type ServiceRuntime,
  Sweeper,
  serviceManifest,
  startService,
  storingServiceConfig,
} from '@kith/service';
import type { StoreConfig } from '@kith/store';
import type { AppContext } from './app.ts';
import { collectionsBackup } from './backup.ts';
import { eraseOwner, lateMs, usersSubscription } from './erasure.ts';
import { eraseProjectHandler } from './operations/erase-project.ts';
import { exportCollectionsHandler } from './operations/export-collections.ts';
import { exportEntitiesHandler } from './operations/export-entities.ts';
import * as operations from './operations/index.ts';
import { withEntitiesHandler } from './operations/with-entities.ts';
import { startPurger } from './purger.ts';
import { openStore } from './store/index.ts';

export interface CollectionsOptions {
  store: StoreConfig;
  /** How often the service looks for data that late requests or dead processes have left behind, in ms. The default is 5 s. */
  sweepEveryMs?: number;
  /** How often the service looks for data of deleted collections, in ms. The default is 1 s. */
  purgeEveryMs?: number;
}

export const manifest = serviceManifest<AppContext>()({
  name: 'collections',
  config: storingServiceConfig,
  operations,
  internal: [eraseProjectHandler, exportCollectionsHandler, exportEntitiesHandler, withEntitiesHandler],
  asks: [knownUsers],
  emits: ['collection', 'audit'],
  subscriptions: [usersSubscription],
  stores: collectionsBackup,
  start: (runtime, { store }) => startCollections(runtime, { store }),
});

/** Starts the collections service on its own store. Throws `StartError` when the store cannot be used. */
export async function startCollections(
  runtime: ServiceRuntime,
  options: CollectionsOptions,
): Promise<RunningService> {
  const { sweepEveryMs = 5_000, purgeEveryMs = 1_000 } = options;
  const { bus, log, metrics } = runtime;
  await using undo = new AsyncDisposableStack();
  const store = undo.adopt(await openStore(options.store), (opened) => opened.close());
  const relay = undo.adopt(new Relay({ bus, outbox: store.outbox, log, metrics }), (one) => one.stop());
  const app: AppContext = { store, bus, relay, turns: new Turns() };
  const every = { everyMs: sweepEveryMs, log };
  const sweeps = [
    new Sweeper(() => store.sweep(), every),
    store.erased.sweeper((owner) => eraseOwner(app, owner), { lateMs, ...every }),
  ];
  for (const sweep of sweeps) undo.adopt(sweep, (one) => one.stop());
  const purger = undo.adopt(startPurger(store, { everyMs: purgeEveryMs, log }), (one) => one.stop());
  const service = await startService<AppContext>(runtime, manifest, {
    app,
    outbox: store.outbox,
    replies: store.replies,
    background: [purger, ...sweeps, relay],
    checkStore: () => store.check(),
    close: () => store.close(),
  });
  undo.move();
  return service;
}
