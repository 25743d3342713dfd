import { useRoute } from '../hooks/use-route.ts';
import { AccountPage } from './account-page.tsx';
import { ConnectionsPage } from './connections-page.tsx';
import { FoldersPage } from './folders-page.tsx';
import { NotificationsPage } from './notifications-page.tsx';
import { PeoplePage } from './people-page.tsx';
import { PersonPage } from './person-page.tsx';

/** The page that the address names. */
export function CurrentPage() {
  const route = useRoute();
  switch (route.page) {
    case 'people':
      return <PeoplePage />;
    case 'person':
      return <PersonPage key={route.id} userId={route.id} />;
    case 'folders':
      return <FoldersPage open={route.open} />;
    case 'notifications':
      return <NotificationsPage />;
    case 'account':
      return <AccountPage />;
    case 'mail':
      // `App` shows the page for mails itself, whether or not somebody is signed in.
      return null;
    default:
      return <ConnectionsPage part={route.page} />;
  }
}
