import { useNotifications } from '../hooks/use-notifications.ts';
import { useRoute } from '../hooks/use-route.ts';
import { hrefOf, type Route } from '../lib/routes.ts';
import { Icon, type IconName } from './icon.tsx';

interface NavLink {
  label: string;
  icon: IconName;
  to: Route;
  pages: Route['page'][];
}

const links: NavLink[] = [
  { label: 'People', icon: 'people', to: { page: 'people' }, pages: ['people', 'person'] },
  {
    label: 'Connections',
    icon: 'connections',
    to: { page: 'connections' },
    pages: ['connections', 'requests', 'blocked'],
  },
  { label: 'Folders', icon: 'folder', to: { page: 'folders' }, pages: ['folders'] },
  { label: 'Notifications', icon: 'bell', to: { page: 'notifications' }, pages: ['notifications'] },
  { label: 'Account', icon: 'person', to: { page: 'account' }, pages: ['account'] },
];

/** The links to the pages. On a desktop, they are a column beside the page. On a phone, they are a bar below the page. */
export function NavLinks() {
  const { page } = useRoute();
  const { unread } = useNotifications();
  return (
    <nav className="nav" aria-label="Pages">
      {links.map(({ label, icon, to, pages }) => (
        <a key={label} href={hrefOf(to)} aria-current={pages.includes(page) ? 'page' : undefined}>
          <Icon name={icon} />
          <span className="nav-label">{label}</span>
          {icon === 'bell' && unread > 0 && (
            <span className="badge">
              {unread > 99 ? '99+' : unread}
              <span className="for-readers"> unread</span>
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}
