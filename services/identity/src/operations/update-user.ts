import { ApiError, untilMade } from '@kith/base';
import { type BodyOf, updateUser, userUpdated } from '@kith/contracts';
import { handler } from '@kith/service';
import { afterChange } from '@kith/store';
import type { AppContext } from '../app.ts';
import { changedUser } from '../changed-user.ts';
import { dropDeleted, picturesOf } from '../pictures.ts';
import { changesProfile, withProfile } from '../profile.ts';
import { seesOwn } from '../show-user.ts';
import type { User } from '../store/index.ts';
import { userEvent } from '../user-events.ts';
import { ownUserOf } from '../user-views.ts';

/**
 * Changes the caller's own profile. A server key may change any user's profile, and also the role and the reputation
 * (spec#users-update, spec#users-role-server-keys). A request that changes nothing stores nothing and makes no event.
 */
export const updateUserHandler = handler(updateUser, async (request, app: AppContext) => {
  const { projectId, caller, params, body } = request;
  if (!seesOwn(request, params.userId)) throw new ApiError('auth/forbidden');
  const pictures = await picturesOf(app, request);
  const attempt = async () => {
    const before = await app.store.users.find(projectId, params.userId);
    if (!before) throw new ApiError('user/not-found');
    const shown = pictures(before);
    const profile = { ...withProfile(body, before), avatar: shown.avatar };
    // A user's own request cannot contain role and reputation.
    const standing = caller ? {} : standingOf(body, before);
    const isSame = shown.avatarFileId === before.avatarFileId && shown.bannerFileId === before.bannerFileId;
    const isStanding = Object.keys(standing).length === 0;
    if (isSame && isStanding && !changesProfile(profile, before)) return { result: ownUserOf(before) };
    const after = changedUser(before, { ...profile, ...shown, ...standing });
    const event = userEvent(userUpdated, after, caller?.userId ?? null);
    const outcome = await app.store.users.update(after, event);
    if (outcome === 'username-taken') throw new ApiError('DUPLICATE_USERNAME', { field: 'username' });
    if (outcome === 'stale') return undefined;
    app.relay.kick();
    // A file may have been deleted since the storage service was asked about it. `dropDeleted` removes such a file from the
    // profile. If `dropDeleted` fails, the profile may still show the file.
    await afterChange(() =>
      dropDeleted(app, request).catch((error) =>
        request.log.warn({ err: error }, 'could not check whether the pictures of a profile were deleted'),
      ),
    );
    return { result: ownUserOf(after) };
  };
  return untilMade(attempt, request);
});

/**
 * The role and the reputation that a request changes. Each of them is left out if the request does not contain it, or if it
 * equals the stored value.
 */
function standingOf(
  { role, reputation }: Partial<BodyOf<{ body: typeof updateUser.serverKeyBody }>>,
  before: User,
): Partial<Pick<User, 'role' | 'reputation'>> {
  return {
    ...(role !== undefined && role !== before.role && { role }),
    ...(reputation !== undefined && reputation !== before.reputation && { reputation }),
  };
}
