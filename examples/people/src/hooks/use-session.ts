import type { OwnUser, Session } from '@kith/client';
import { useSyncExternalStore } from 'react';
import { useKith } from './use-kith.ts';

/** Returns the session of the user who is signed in, whether in this tab or in another one. */
export function useSession(): Session | null {
  const kith = useKith();
  return useSyncExternalStore(kith.onSession, () => kith.session);
}

/** Gives the signed-in user, on pages that only a signed-in user sees. */
export function useUser(): OwnUser {
  const session = useSession();
  if (!session) throw new Error('Nobody is signed in.');
  return session.user;
}
