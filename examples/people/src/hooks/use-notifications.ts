import type { AppNotification } from '@kith/client';
import { createContext, use } from 'react';
import { announce } from '../lib/changes.ts';
import { useAction } from './use-action.ts';
import { useKith } from './use-kith.ts';
import { useList, type Walk } from './use-list.ts';

export interface Notifications {
  unread: number;
  /** Whether new notifications arrive live; `false` while the connection is lost. */
  isLive: boolean;
}

export const NotificationsContext = createContext<Notifications>({ unread: 0, isLive: true });

/** Returns the number of unread notifications, and keeps it up to date. */
export function useNotifications(): Notifications {
  return use(NotificationsContext);
}

/** The signed-in user's notifications, newest first. */
export function useNotificationList(): Walk<AppNotification> {
  const kith = useKith();
  return useList('notifications', 'notifications', (signal) =>
    kith.notifications.list({ limit: 20 }, { signal }),
  );
}

/** Returns functions that mark notifications as read, and make every tab show the change. */
export function useNotificationActions() {
  const { notifications } = useKith();
  const one = useAction(async (notificationId: string) => {
    await notifications.markAsRead({ notificationId });
    announce('notifications');
  });
  const all = useAction(async () => {
    await notifications.markAllAsRead();
    announce('notifications');
  });
  return { markAsRead: one.run, markAllAsRead: all.run, isBusy: all.isBusy };
}
