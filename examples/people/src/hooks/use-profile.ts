import type { Methods, OwnUser } from '@kith/client';
import { announce } from '../lib/changes.ts';
import { useKith } from './use-kith.ts';
import { useUser } from './use-session.ts';

type Profile = Omit<Methods['users.update']['input'], 'userId'>;

/** Changes the signed-in user's own profile, and updates all components that show it. */
export function useProfileUpdate(): (profile: Profile) => Promise<OwnUser> {
  const kith = useKith();
  const { id: userId } = useUser();
  return async (profile) => {
    const user = await kith.users.update({ userId, ...profile });
    // The session contains the user, and all tabs share it. So every tab gets the new profile when the session is refreshed. A
    // failure of the refresh is ignored, because the profile is already stored.
    await kith.auth.refresh().catch(() => null);
    announce('profiles');
    return user;
  };
}
