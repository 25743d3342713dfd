import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { NotificationItem } from '../components/notification-item.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { WalkView } from '../components/walk-view.tsx';
import { useNotificationActions, useNotificationList, useNotifications } from '../hooks/use-notifications.ts';

/** The signed-in user's notifications. New notifications appear when they arrive. */
export function NotificationsPage() {
  const { unread } = useNotifications();
  const { markAllAsRead, isBusy } = useNotificationActions();
  return (
    <>
      <PageHeading title="Notifications">
        {unread > 0 && (
          <Button icon="check" disabled={isBusy} onClick={() => void markAllAsRead()}>
            Mark all as read
          </Button>
        )}
      </PageHeading>
      <WalkView
        walk={useNotificationList()}
        topic="notifications"
        label="Notifications"
        empty={
          <Empty icon="bell" title="All quiet">
            You hear of requests and answers here, as they come.
          </Empty>
        }
      >
        {(notification) => <NotificationItem key={notification.id} notification={notification} />}
      </WalkView>
    </>
  );
}
