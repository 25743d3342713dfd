import { knownUsers, usersByIds, usersPage } from '@kith/contracts';
import {
  profileEvents,
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
import { connectionsBackup } from './backup.ts';
import { endedUsers, startEraser } from './eraser.ts';
import { blocksPageHandler } from './operations/blocks-page.ts';
import { eraseProjectHandler } from './operations/erase-project.ts';
import { exportDeclinedHandler } from './operations/export-declined.ts';
import { exportListHandlers } from './operations/export-lists.ts';
import { exportSettingsHandler } from './operations/export-settings.ts';
import * as operations from './operations/index.ts';
import { standingBlocksHandler } from './operations/standing-blocks.ts';
import { blocksBeforeRestore } from './restored.ts';
import { openStore } from './store/index.ts';

export interface ConnectionsOptions {
  store: StoreConfig;
}

const sweepMs = 5_000;

export const manifest = serviceManifest<AppContext>()({
  name: 'connections',
  config: storingServiceConfig,
  operations,
  internal: [
    eraseProjectHandler,
    blocksPageHandler,
    standingBlocksHandler,
    ...exportListHandlers,
    exportDeclinedHandler,
    exportSettingsHandler,
  ],
  asks: [usersByIds, usersPage, knownUsers],
  emits: ['connection', 'audit'],
  subscriptions: [profileEvents('connections-profiles'), endedUsers, blocksBeforeRestore],
  stores: connectionsBackup,
  start: (runtime, { store }) => startConnections(runtime, { store }),
});

/**
 * Starts the connections service. The service stores requests to connect, and who is connected with whom (spec#connections).
 */
export async function startConnections(
  runtime: ServiceRuntime,
  options: ConnectionsOptions,
): Promise<RunningService> {
  const { bus, log, metrics } = runtime;
  await using undo = new AsyncDisposableStack();
  const store = undo.adopt(await openStore(options.store), (opened) => opened.close());
  const relay = undo.adopt(new Relay({ bus, outbox: store.outbox, log, metrics }), (one) => one.stop());
  const sweeper = undo.adopt(new Sweeper(() => store.sweep(), { everyMs: sweepMs, log }), (one) =>
    one.stop(),
  );
  const eraser = undo.adopt(startEraser({ store, bus, relay }, { log }), (one) => one.stop());
  const epoch = (await store.outbox.fact('epoch'))?.number ?? 0;
  const service = await startService<AppContext>(runtime, manifest, {
    app: { store, epoch, bus, relay },
    outbox: store.outbox,
    replies: store.replies,
    background: [eraser, sweeper, relay],
    checkStore: () => store.check(),
    close: () => store.close(),
  });
  undo.move();
  return service;
}
