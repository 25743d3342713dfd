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
  const { data: unread = 0 } = useQuery('unread', 'notifications', (signal) =>
    kith.notifications.count({ signal }),
  );
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
  const value = useMemo(() => ({ unread, isLive }), [unread, isLive]);
  return <NotificationsContext value={value}>{children}</NotificationsContext>;
}
