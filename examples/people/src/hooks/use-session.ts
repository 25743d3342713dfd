import type { OwnUser, Session } from '@kith/client';
import { useSyncExternalStore } from 'react';
import { useKith } from './use-kith.ts';

/** Returns the session of the signed-in user. All tabs have the same session. */
export function useSession(): Session | null {
  const kith = useKith();
  return useSyncExternalStore(kith.onSession, () => kith.session);
}

/** Returns the signed-in user. Only for pages that need a signed-in user. */
export function useUser(): OwnUser {
  const session = useSession();
  if (!session) throw new Error('Nobody is signed in.');
  return session.user;
}
