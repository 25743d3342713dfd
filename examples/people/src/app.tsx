import { AppShell } from './components/app-shell.tsx';
import { NotificationsProvider } from './components/notifications-provider.tsx';
import { ProofProvider } from './components/proof-provider.tsx';
import { ToastProvider } from './components/toast-provider.tsx';
import { useRoute } from './hooks/use-route.ts';
import { useSession } from './hooks/use-session.ts';
import { useSessionEnd } from './hooks/use-session-end.ts';
import { CurrentPage } from './pages/current-page.tsx';
import { MailPage } from './pages/mail-page.tsx';
import { WelcomePage } from './pages/welcome-page.tsx';

/** The application: the pages for a signed-in user, or the page to sign in. */
export function App() {
  return (
    <ToastProvider>
      <Visit />
    </ToastProvider>
  );
}

function Visit() {
  const session = useSession();
  const route = useRoute();
  useSessionEnd();
  // The page for mails works with and without a session, because the person who opens a link in a mail is not always signed in.
  if (route.page === 'mail') return <MailPage key={route.token} kind={route.kind} token={route.token} />;
  if (!session) return <WelcomePage />;
  // The key changes when another user signs in, so that React discards all state of the previous user.
  return (
    <NotificationsProvider key={session.user.id}>
      <ProofProvider>
        <AppShell>
          <CurrentPage />
        </AppShell>
      </ProofProvider>
    </NotificationsProvider>
  );
}
