import type { AppNotification } from '@kith/client';
import { useNotificationActions } from '../hooks/use-notifications.ts';
import { initiatorOf, textOf } from '../lib/notifications.ts';
import { hrefOf } from '../lib/routes.ts';
import { timeAgo } from '../lib/times.ts';
import { Avatar } from './avatar.tsx';
import { Button } from './button.tsx';

/** A notification. Opening it marks it as read. */
export function NotificationItem({ notification }: { notification: AppNotification }) {
  const { markAsRead } = useNotificationActions();
  const { id, isRead, createdAt } = notification;
  const person = initiatorOf(notification);
  const mark = () => {
    if (!isRead) void markAsRead(id);
  };
  return (
    <li className={`card notification${isRead ? '' : ' unread'}`}>
      {person && <Avatar person={person} />}
      <div className="person-text">
        {person ? (
          <a className="notification-text" href={hrefOf({ page: 'person', id: person.id })} onClick={mark}>
            {textOf(notification)}
          </a>
        ) : (
          <span className="notification-text">{textOf(notification)}</span>
        )}
        <p className="person-note">
          <time dateTime={createdAt}>{timeAgo(createdAt)}</time>
        </p>
      </div>
      {!isRead && (
        <Button
          look="quiet"
          icon="check"
          iconOnly
          aria-label={`Mark “${textOf(notification)}” as read`}
          onClick={mark}
        />
      )}
    </li>
  );
}
