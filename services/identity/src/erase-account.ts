import { untilMade } from '@kith/base';
import type { Caller } from '@kith/service';
import { afterChange } from '@kith/store';
import type { AppContext } from './app.ts';
import { endSessionsOf, requireOpenSession } from './sessions.ts';
import { userDeletedEvent } from './user-events.ts';

/**
 * Deletes an account and ends its sessions. Other services get the event `user.deleted` and then erase their own data of the
 * account (spec#users-erasure). Returns `false` if there is no such account.
 * @param caller Given if users delete their own account. If the caller's session ends before the account is deleted, throws
 * `auth/unauthorized`.
 * @param onLeft Called with the error if sessions could not be revoked yet, or if kept answers or the counts of failed attempts
 * could not be removed yet. The account is deleted all the same, and the sweep of erasures tries again.
 */
export async function eraseAccount(
  app: AppContext,
  {
    projectId,
    userId,
    caller,
    deadline,
  }: { projectId: string; userId: string; caller?: Caller; deadline?: number },
  onLeft: (error: unknown) => void = () => {},
): Promise<boolean> {
  const find = async () => {
    const user = await app.store.users.account(projectId, userId);
    if (user && caller) await requireOpenSession(app, user, caller);
    return user;
  };
  const attempt = async () => {
    const user = await find();
    if (!user) return { result: false };
    // The external user is noted before the deletion, so that a token is refused even if it comes right after the deletion.
    if (user.foreignId !== null) await app.erasedExternals.note(projectId, user.foreignId);
    // After the deletion, a repeated request must not get a kept answer that contains the user, for example that of a sign-up.
    // The answer to the deletion itself is kept later, so this call does not remove it.
    await app.store.replies?.forget({ projectId, userId }).catch(onLeft);
    if ((await app.store.erasure.remove(user, userDeletedEvent(user, new Date()))) === 'stale')
      return undefined;
    app.relay.kick();
    await afterChange(() => app.attempts.forget({ projectId, userId, address: user.email }).catch(onLeft));
    await endSessionsOf(app, { projectId, userId }, 'deleted').catch(onLeft);
    return { result: true };
  };
  if (!(await find())) return false;
  return app.erasures.noted({ projectId, userId }, () => untilMade(attempt, { deadline }));
}
