import type { AppContext } from './app.ts';
import { endSessionsOf } from './sessions.ts';
import { userDeletedEvent } from './user-events.ts';

// Each loss means that another change of the same user got through.
const attempts = 100;

/**
 * Deletes an account and ends its sessions; what other services hold of it goes by the event (SPEC B2). `false` when there is
 * none.
 * @param onLeft Hears why sessions were not revoked yet: the account is gone all the same, and the sweep of erasures revokes
 * them.
 */
export async function eraseAccount(
  app: AppContext,
  { projectId, userId }: { projectId: string; userId: string },
  onLeft: (error: unknown) => void = () => {},
): Promise<boolean> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const user = await app.store.users.find(projectId, userId);
    if (!user) return false;
    if ((await app.store.erasure.remove(user, userDeletedEvent(user, new Date()))) === 'stale') continue;
    app.relay.kick();
    await endSessionsOf(app, { projectId, userId }, 'deleted').catch(onLeft);
    return true;
  }
  throw new Error('The user was changed by others again and again.');
}
