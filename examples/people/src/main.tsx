import { createClient, localStorageSession } from '@kith/client';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { KithContext } from './hooks/use-kith.ts';
import { adoptMailLink } from './lib/routes.ts';
import { loadSettings } from './lib/settings.ts';
import './styles/index.css';

adoptMailLink();
const root = createRoot(document.getElementById('root') as HTMLElement);
try {
  const { url, projectId } = await loadSettings();
  // The name of the session in `localStorage` contains the project, because a session is valid for only one project.
  const kith = createClient({ url, projectId, session: localStorageSession(`kith-people-${projectId}`) });
  root.render(
    <StrictMode>
      <KithContext value={kith}>
        <App />
      </KithContext>
    </StrictMode>,
  );
} catch (error) {
  root.render(<p className="start-problem">{(error as Error).message}</p>);
}
