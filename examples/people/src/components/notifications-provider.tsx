import { type ReactNode, useMemo } from 'react';
import { useKith } from '../hooks/use-kith.ts';
import { useNotificationStream } from '../hooks/use-notification-stream.ts';
import { NotificationsContext } from '../hooks/use-notifications.ts';
import { useQuery } from '../hooks/use-query.ts';
import { useUser } from '../hooks/use-session.ts';
import { useToasts } from '../hooks/use-toasts.ts';
import { announceHere } from '../lib/changes.ts';
import { initiatorOf, textOf } from '../lib/notifications.ts';
import { hrefOf } from '../lib/routes.ts';

/**
 * Listens to the user's notifications. After each notification, components that show notifications or connections load them
 * again. Every tab opens its own stream, so a change is announced only in this tab.
 */
export function NotificationsProvider({ children }: { children: ReactNode }) {
  const kith = useKith();
  const user = useUser();
  const { show } = useToasts();
  const refresh = () => {
    announceHere('notifications');
    announceHere('connections');
  };
  const isLive = useNotificationStream(user.id, {
    onGap: refresh,
    onNotification(notification) {
      refresh();
      const person = initiatorOf(notification);
      const about = person && { person, href: hrefOf({ page: 'person', id: person.id }) };
      show({ text: textOf(notification), ...about });
    },
  });
  // The notifications are counted when the stream is open, or cannot be opened. If they were counted earlier, a notification
  // that comes between the count and the stream would be missing in both.
  const key = isLive === undefined ? undefined : 'unread';
  const { data: unread = 0 } = useQuery(key, 'notifications', (signal) =>
    kith.notifications.count({ signal }),
  );
  const value = useMemo(() => ({ unread, isLive: isLive ?? true }), [unread, isLive]);
  return <NotificationsContext value={value}>{children}</NotificationsContext>;
}
