export { notificationsBackup } from './backup.ts';
export { notificationsConfig } from './config.ts';
export { notificationsMove } from './move.ts';
export { type NotificationsOptions, startNotifications } from './service.ts';
