export { notificationsBackup } from './backup.ts';
export { notificationsConfig } from './config.ts';
export { manifest, type NotificationsOptions, startNotifications } from './service.ts';
