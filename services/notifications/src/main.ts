import { runServiceMain } from '@kith/service';
import { notificationsConfig } from './config.ts';
import { startNotifications } from './service.ts';

await runServiceMain('notifications', notificationsConfig, (runtime, config) =>
  startNotifications(runtime, {
    store: { kind: 'mongo', url: config.MONGODB_URL, database: `${config.KITH_PREFIX}_notifications` },
    keepDays: config.NOTIFICATION_DAYS,
  }),
);
