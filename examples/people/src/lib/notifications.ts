import { type AppNotification, isKithNotification, type KithNotification } from '@kith/client';
import { nameOf, type Person } from './people.ts';

/**
 * Returns the person that a notification is about, with the profile at the time of the notification; `null` if it is about
 * nobody.
 */
export function initiatorOf(notification: AppNotification): Person | null {
  if (!isKithNotification(notification)) return null;
  const { metadata } = notification;
  return {
    id: metadata.initiatorId,
    name: metadata.initiatorName,
    username: metadata.initiatorUsername,
    avatar: metadata.initiatorAvatar,
  };
}

const says: Record<KithNotification['type'], string> = {
  'connection-request': 'would like to connect with you',
  'connection-accepted': 'accepted your request',
};

/**
 * Returns the text of a notification. The notifications of the application's own back end (`server/announce.ts`) have their
 * text in `metadata`.
 */
export function textOf(notification: AppNotification): string {
  const person = initiatorOf(notification);
  if (person && isKithNotification(notification)) return `${nameOf(person)} ${says[notification.type]}`;
  const { text } = notification.metadata as { text?: unknown };
  return typeof text === 'string' ? text : 'Something new';
}
