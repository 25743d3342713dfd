import type { ReactNode } from 'react';
import { useAction } from '../hooks/use-action.ts';
import { useKith } from '../hooks/use-kith.ts';
import { useNotifications } from '../hooks/use-notifications.ts';
import { useUser } from '../hooks/use-session.ts';
import { nameOf } from '../lib/people.ts';
import { hrefOf } from '../lib/routes.ts';
import { Avatar } from './avatar.tsx';
import { Brand } from './brand.tsx';
import { Button } from './button.tsx';
import { NavLinks } from './nav-links.tsx';

/** The frame around every page of a signed-in user. */
export function AppShell({ children }: { children: ReactNode }) {
  const kith = useKith();
  const user = useUser();
  const { isLive } = useNotifications();
  const signOut = useAction(() => kith.auth.signOut());
  return (
    <div className="shell">
      <header className="sidebar">
        <Brand />
        <NavLinks />
        <div className="account">
          <a className="account-who" href={hrefOf({ page: 'person', id: user.id })} aria-label="Your profile">
            <Avatar person={user} size="s" />
            <span className="account-name">
              <strong>{nameOf(user)}</strong>
              <span className="muted">{user.username ? `@${user.username}` : user.email}</span>
            </span>
          </a>
          <Button
            look="quiet"
            icon="leave"
            iconOnly
            aria-label="Sign out"
            onClick={() => void signOut.run()}
          />
        </div>
      </header>
      <main className="main">
        {!isLive && (
          <p className="offline" role="status">
            The connection is lost. News will appear when the connection is back.
          </p>
        )}
        {children}
      </main>
    </div>
  );
}
