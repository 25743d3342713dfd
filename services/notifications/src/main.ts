import { runServiceMain, storeOf } from '@kith/service';
import { notificationsConfig } from './config.ts';
import { startNotifications } from './service.ts';

await runServiceMain('notifications', notificationsConfig, (runtime, config) =>
  startNotifications(runtime, {
    store: storeOf('notifications', config),
    keepDays: config.NOTIFICATION_DAYS,
  }),
);
