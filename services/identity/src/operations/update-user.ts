import { ApiError, untilMade } from '@kith/base';
import { updateUser, userUpdated } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { changedUser } from '../changed-user.ts';
import { picturesOf } from '../pictures.ts';
import { changesProfile, withProfile } from '../profile.ts';
import { userEvent } from '../user-events.ts';
import { ownUserOf } from '../user-views.ts';

/** Changes the caller's own profile (spec#users-update). What changes nothing is stored nowhere and makes no event. */
export const updateUserHandler = handler(updateUser, async (request, app: AppContext) => {
  const { projectId, caller, params, body } = request;
  if (caller.userId !== params.userId) throw new ApiError('auth/forbidden');
  const pictures = await picturesOf(app, request);
  const attempt = async () => {
    const before = await app.store.users.find(projectId, params.userId);
    if (!before) throw new ApiError('user/not-found');
    const shown = pictures(before);
    const profile = { ...withProfile(body, before), avatar: shown.avatar };
    const isSame = shown.avatarFileId === before.avatarFileId && shown.bannerFileId === before.bannerFileId;
    if (isSame && !changesProfile(profile, before)) return { result: ownUserOf(before) };
    const after = changedUser(before, { ...profile, ...shown });
    const outcome = await app.store.users.update(after, userEvent(userUpdated, after));
    if (outcome === 'username-taken') throw new ApiError('DUPLICATE_USERNAME', { field: 'username' });
    if (outcome === 'stale') return undefined;
    app.relay.kick();
    return { result: ownUserOf(after) };
  };
  return untilMade(attempt, request);
});
