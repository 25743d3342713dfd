import { untilMade } from '@kith/base';
import { afterChange } from '@kith/store';
import type { AppContext } from './app.ts';
import { endSessionsOf } from './sessions.ts';
import { userDeletedEvent } from './user-events.ts';

/**
 * Deletes an account and ends its sessions; other services erase what they hold of it when they get the event
 * (spec#users-erasure). `false` when there is none.
 * @param onLeft Is called with the error if sessions could not be revoked yet: the account is gone all the same, and the sweep
 * of erasures revokes them.
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
    // Before the deletion: a token that comes right after it must find it.
    if (user.foreignId !== null) await app.erasedExternals.note(projectId, user.foreignId);
    if ((await app.store.erasure.remove(user, userDeletedEvent(user, new Date()))) === 'stale')
      return undefined;
    app.relay.kick();
    await afterChange(() => app.attempts.forget({ projectId, userId, address: user.email }).catch(onLeft));
    await endSessionsOf(app, { projectId, userId }, 'deleted').catch(onLeft);
    return { result: true };
  };
  return untilMade(attempt, { deadline });
}
