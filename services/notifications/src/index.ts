export { notificationsConfig } from './config.ts';
export { type NotificationsOptions, startNotifications } from './service.ts';
export { notificationsMove } from './store/move.ts';
