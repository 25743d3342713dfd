import { ApiError, untilMade } from '@kith/base';
import { changeUser, userUpdated } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changedUser } from '../changed-user.ts';
import { projectUserOf } from '../project-user-views.ts';
import { userEvent } from '../user-events.ts';

/**
 * For an operator, changes a user's role, reputation or verification (spec#admin-users-update). A request that changes nothing
 * stores nothing and makes no event.
 */
export const changeUserHandler = handler(changeUser, async (request, app: AppContext) => {
  const { projectId, userId } = request.params;
  const { role, reputation, isVerified } = request.body;
  const attempt = async () => {
    const before = await app.store.users.find(projectId, userId);
    if (!before) throw new ApiError('user/not-found');
    const standing = {
      role: role ?? before.role,
      reputation: reputation ?? before.reputation,
      isVerified: isVerified ?? before.isVerified,
    };
    const isChanged = (Object.keys(standing) as (keyof typeof standing)[]).some(
      (field) => standing[field] !== before[field],
    );
    if (!isChanged) return { result: await projectUserOf(app, before) };
    const after = changedUser(before, standing);
    const event = userEvent(userUpdated, after, null);
    if ((await app.store.users.updateStanding(after, event)) === 'stale') return undefined;
    app.relay.kick();
    return { result: await projectUserOf(app, after) };
  };
  return untilMade(attempt, request);
});
