import { ApiError, untilMade } from '@kith/base';
import { restoreUser, suspendUser, userSuspended, userUpdated } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { finishEnding, tokensEnd } from '../sessions.ts';
import type { User } from '../store/index.ts';
import { userEvent } from '../user-events.ts';
import { ownUserOf } from '../user-views.ts';

/** Suspends a user: gateways are told at once, and its sessions end with the same write (spec#admin-users-suspended). */
export const suspendUserHandler = handler(suspendUser, async (request, app: AppContext) => {
  const { user, changed } = await setActive(app, request, false);
  if (changed && user.suspendedAt) {
    const { projectId, id: userId, sessionEpoch: epoch } = user;
    app.notices.tell({ suspended: [{ userId, until: tokensEnd(user.suspendedAt).toISOString() }] });
    await finishEnding(app, { projectId, userId, epoch, reason: 'suspended' });
  }
  return ownUserOf(user);
});

/** Lets a user sign in again; what was ended stays so (spec#admin-users-restore). */
export const restoreUserHandler = handler(restoreUser, async (request, app: AppContext) => {
  const { user, changed } = await setActive(app, request, true);
  if (changed) app.notices.tell({ restored: [user.id] });
  return ownUserOf(user);
});

async function setActive(
  app: AppContext,
  { params, deadline }: { params: { projectId: string; userId: string }; deadline: number },
  isActive: boolean,
): Promise<{ user: User; changed: boolean }> {
  const { projectId, userId } = params;
  const attempt = async () => {
    const before = await app.store.users.find(projectId, userId);
    if (!before) throw new ApiError('user/not-found');
    if (before.isActive === isActive) return { result: { user: before, changed: false } };
    const updatedAt = new Date();
    const after: User = {
      ...before,
      isActive,
      suspendedAt: isActive ? null : updatedAt,
      sessionEpoch: isActive ? before.sessionEpoch : before.sessionEpoch + 1,
      keptSession: isActive ? before.keptSession : null,
      updatedAt,
      rev: before.rev + 1,
      seq: before.seq + 1,
    };
    const event = userEvent(isActive ? userUpdated : userSuspended, after, null);
    const ending = isActive ? null : 'suspended';
    if ((await app.store.accounts.update(after, { event, ending })) === 'stale') return undefined;
    app.relay.kick();
    return { result: { user: after, changed: true } };
  };
  return untilMade(attempt, { deadline });
}
