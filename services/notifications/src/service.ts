import { Turns } from '@kith/base';
import { feedNotice, knownUsers, usersByIds, usersPage } from '@kith/contracts';
import {
  profileEvents,
  Relay,
  type RunningService,
  type ServiceRuntime,
  Sweeper,
  serviceManifest,
  startService,
} from '@kith/service';
import type { StoreConfig } from '@kith/store';
import type { AppContext } from './app.ts';
import { notificationsBackup } from './backup.ts';
import { notificationsConfig } from './config.ts';
import { startEraser } from './eraser.ts';
import { feedEvents } from './events/feed-events.ts';
import { userEvents } from './events/user-events.ts';
import { expireOld } from './expire-old.ts';
import { eraseProjectHandler } from './operations/erase-project.ts';
import { exportNotificationsHandler } from './operations/export-notifications.ts';
import { exportSettingsHandler } from './operations/export-settings.ts';
import { feedAfterHandler } from './operations/feed-after.ts';
import { feedCloseHandler } from './operations/feed-close.ts';
import { feedOpenHandler } from './operations/feed-open.ts';
import * as operations from './operations/index.ts';
import { openStore } from './store/index.ts';

export interface NotificationsOptions {
  store: StoreConfig;
  /** How long a notification is kept, in days; 90 by default. */
  keepDays?: number;
  /** How often the service looks for expired notifications, in ms. */
  expireEveryMs?: number;
  /**
   * Returns the present time, in ms since 1970, which decides whether a notification has expired. By default, this is the time
   * of the machine.
   */
  now?: () => number;
}

const dayMs = 24 * 3600 * 1000;
const sweepMs = 5_000;

export const manifest = serviceManifest<AppContext>()({
  name: 'notifications',
  config: notificationsConfig,
  operations,
  internal: [
    eraseProjectHandler,
    feedOpenHandler,
    feedAfterHandler,
    feedCloseHandler,
    exportNotificationsHandler,
    exportSettingsHandler,
  ],
  asks: [usersByIds, usersPage, knownUsers],
  emits: ['notification', 'audit'],
  subscriptions: [profileEvents('notifications-profiles'), userEvents, feedEvents],
  tells: [feedNotice],
  stores: notificationsBackup,
  start: (runtime, { store, config }) =>
    startNotifications(runtime, { store, keepDays: config.NOTIFICATION_DAYS }),
});

/**
 * Starts the notifications service, which notifies users of events and delivers the notifications that applications send
 * (spec#notifications).
 */
export async function startNotifications(
  runtime: ServiceRuntime,
  options: NotificationsOptions,
): Promise<RunningService> {
  const { keepDays = 90, expireEveryMs = 60_000, now = Date.now } = options;
  const { bus, log, metrics } = runtime;
  await using undo = new AsyncDisposableStack();
  const store = undo.adopt(await openStore(options.store), (opened) => opened.close());
  const relay = undo.adopt(new Relay({ bus, outbox: store.outbox, log, metrics }), (one) => one.stop());
  const epoch = (await store.outbox.fact('epoch'))?.number ?? 0;
  const app: AppContext = { store, epoch, bus, relay, turns: new Turns(), keepMs: keepDays * dayMs, now };
  const sweeps = [
    new Sweeper(() => store.sweep(), { everyMs: sweepMs, log }),
    new Sweeper((isStopped) => expireOld(app, isStopped), { everyMs: expireEveryMs, log }),
  ];
  for (const sweep of sweeps) undo.adopt(sweep, (one) => one.stop());
  const eraser = undo.adopt(startEraser(app, { log }), (one) => one.stop());
  const service = await startService<AppContext>(runtime, manifest, {
    app,
    outbox: store.outbox,
    replies: store.replies,
    background: [eraser, ...sweeps, relay],
    checkStore: () => store.check(),
    close: () => store.close(),
  });
  undo.move();
  return service;
}
