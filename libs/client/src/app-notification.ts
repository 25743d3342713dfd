import type { KithNotification, OwnNotification } from './generated/types.ts';

/** A notification to a user, from Kith or from the application's own back end. */
export type AppNotification = KithNotification | OwnNotification;

const types: readonly string[] = [
  'connection-request',
  'connection-accepted',
] satisfies KithNotification['type'][];

/**
 * Whether a notification is from Kith itself. Such a notification has an initiator. The meaning of other notifications is up to
 * the application.
 */
export function isKithNotification(notification: AppNotification): notification is KithNotification {
  return types.includes(notification.type);
}
