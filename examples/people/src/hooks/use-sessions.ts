import type { SessionInfo } from '@kith/client';
import { useKith } from './use-kith.ts';
import { useList, type Walk } from './use-list.ts';

/** The signed-in user's sessions, newest first. */
export function useSessions(): Walk<SessionInfo> {
  const kith = useKith();
  return useList('sessions', 'sessions', (signal) => kith.auth.listSessions({ limit: 20 }, { signal }));
}
