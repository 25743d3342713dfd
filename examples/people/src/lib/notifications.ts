import type { AppNotification } from '@kith/client';
import { nameOf, type Person } from './people.ts';

/** Who a notification is about, as they were when it came. */
export function initiatorOf({ metadata }: AppNotification): Person {
  return {
    id: metadata.initiatorId,
    name: metadata.initiatorName,
    username: metadata.initiatorUsername,
    avatar: metadata.initiatorAvatar,
  };
}

const says: Record<AppNotification['type'], string> = {
  'connection-request': 'would like to connect with you',
  'connection-accepted': 'accepted your request',
};

/** What a notification says. */
export function textOf(notification: AppNotification): string {
  return `${nameOf(initiatorOf(notification))} ${says[notification.type]}`;
}
