import { untilMade } from '@kith/base';
import type { AppContext } from './app.ts';
import { endSessionsOf } from './sessions.ts';
import { userDeletedEvent } from './user-events.ts';

/**
 * Deletes an account and ends its sessions; what other services hold of it goes by the event (spec#users-erasure). `false`
 * when there is none.
 * @param onLeft Hears why sessions were not revoked yet: the account is gone all the same, and the sweep of erasures revokes
 * them.
 */
export async function eraseAccount(
  app: AppContext,
  { projectId, userId, deadline }: { projectId: string; userId: string; deadline?: number },
  onLeft: (error: unknown) => void = () => {},
): Promise<boolean> {
  const attempt = async () => {
    const user = await app.store.users.account(projectId, userId);
    if (!user) return { result: false };
    await app.erasures.note({ projectId, userId });
    if ((await app.store.erasure.remove(user, userDeletedEvent(user, new Date()))) === 'stale')
      return undefined;
    app.relay.kick();
    await endSessionsOf(app, { projectId, userId }, 'deleted').catch(onLeft);
    return { result: true };
  };
  return untilMade(attempt, { deadline });
}
