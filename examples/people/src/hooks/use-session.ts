import type { OwnUser, Session } from '@kith/client';
import { useSyncExternalStore } from 'react';
import { useKith } from './use-kith.ts';

/** Returns the session of the signed-in user; `null` if nobody is signed in. All tabs have the same session. */
export function useSession(): Session | null {
  const kith = useKith();
  return useSyncExternalStore(kith.onSession, () => kith.session);
}

/** Returns the signed-in user. Throws an error if nobody is signed in. */
export function useUser(): OwnUser {
  const session = useSession();
  if (!session) throw new Error('Nobody is signed in.');
  return session.user;
}
