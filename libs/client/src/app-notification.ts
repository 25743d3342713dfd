import type { KithNotification, OwnNotification } from './generated/types.ts';

/** Something a user is told of, by Kith or by the application's own back end. */
export type AppNotification = KithNotification | OwnNotification;

const types: readonly string[] = [
  'connection-request',
  'connection-accepted',
] satisfies KithNotification['type'][];

/** Whether Kith itself tells this: then it has an initiator. Of an application's own only the application knows what it says. */
export function isKithNotification(notification: AppNotification): notification is KithNotification {
  return types.includes(notification.type);
}
