import { ApiError, untilMade } from '@kith/base';
import { updateUser, userUpdated } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changesProfile, withProfile } from '../profile.ts';
import type { User } from '../store/index.ts';
import { userEvent } from '../user-events.ts';
import { ownUserOf } from '../user-views.ts';

/** Changes the caller's own profile (spec#users-update). What changes nothing is stored nowhere and makes no event. */
export const updateUserHandler = handler(updateUser, async (request, app: AppContext) => {
  const { projectId, caller, params, body } = request;
  if (caller.userId !== params.userId) throw new ApiError('auth/forbidden');
  const attempt = async () => {
    const before = await app.store.users.find(projectId, params.userId);
    if (!before) throw new ApiError('user/not-found');
    const profile = withProfile(body, before);
    if (!changesProfile(profile, before)) return { result: ownUserOf(before) };
    const after: User = {
      ...before,
      ...profile,
      updatedAt: new Date(),
      rev: before.rev + 1,
      seq: before.seq + 1,
    };
    const outcome = await app.store.users.update(after, userEvent(userUpdated, after));
    if (outcome === 'username-taken') throw new ApiError('DUPLICATE_USERNAME', { field: 'username' });
    if (outcome === 'stale') return undefined;
    app.relay.kick();
    return { result: ownUserOf(after) };
  };
  return untilMade(attempt, request);
});
