import { ApiError, untilMade } from '@kith/base';
import { type BodyOf, fileDeleted, ownImages, type updateUser, userUpdated } from '@kith/contracts';
import { ask, type EventSubscription, subscription } from '@kith/service';
import type { AppContext } from './app.ts';
import { changedUser } from './changed-user.ts';
import type { User } from './store/index.ts';
import { userEvent } from './user-events.ts';

/** A user's pictures: the avatar's address, and the files shown as avatar and banner. */
export type Pictures = Pick<User, 'avatar' | 'avatarFileId' | 'bannerFileId'>;

interface Asked {
  projectId: string;
  params: { userId: string };
  body: BodyOf<typeof updateUser>;
  requestId: string;
  deadline: number;
  traceparent: string | null;
}

/**
 * Returns a function that gives a profile's pictures after a change. If a file becomes the avatar, the file's address becomes
 * the avatar's address. If the request sets another address, or sets the address to null, the file is removed from the profile. If
 * a file is not an image of the user's own, throws `user/invalid-body` (spec#storage-avatar).
 */
export async function picturesOf(
  { bus }: Pick<AppContext, 'bus'>,
  request: Asked,
): Promise<(before: Pictures) => Pictures> {
  const { avatarFileId, bannerFileId, avatar } = request.body;
  const addresses = await addressesOf(bus, request);
  return (before) => ({
    bannerFileId: bannerFileId === undefined ? before.bannerFileId : bannerFileId,
    ...avatarAfter(before, { avatarFileId, avatar, address: addresses.get(avatarFileId ?? '') }),
  });
}

/**
 * The avatar after a change. If another address than that of the file is given, the file is no longer the avatar
 * (spec#storage-avatar-replaced).
 * @param given.address The address of the file `avatarFileId`.
 */
export function avatarAfter(
  before: Pictures,
  given: {
    avatarFileId?: string | null | undefined;
    avatar?: string | null | undefined;
    address?: string | undefined;
  },
): Pick<Pictures, 'avatar' | 'avatarFileId'> {
  const { avatarFileId, avatar, address } = given;
  if (avatarFileId) return { avatarFileId, avatar: address ?? null };
  if (avatar !== undefined && avatar !== before.avatar) return { avatarFileId: null, avatar };
  if (avatarFileId === null && before.avatarFileId !== null) return { avatarFileId: null, avatar: null };
  return { avatarFileId: before.avatarFileId, avatar: before.avatar };
}

async function addressesOf(bus: AppContext['bus'], request: Asked): Promise<ReadonlyMap<string, string>> {
  const { projectId, params, body } = request;
  const { avatarFileId, bannerFileId } = body;
  const named = { avatarFileId, bannerFileId };
  const fileIds = Object.values(named).filter((id) => id !== null && id !== undefined);
  if (fileIds.length === 0) return new Map();
  const { userId } = params;
  const { images } = await ask(bus, ownImages, { projectId, userId, fileIds }, request);
  const addresses = new Map(images.map(({ fileId, address }) => [fileId, address]));
  for (const [field, id] of Object.entries(named)) {
    if (!id || addresses.has(id)) continue;
    throw new ApiError('user/invalid-body', {
      message: `${field} must be the id of an image of the user's own.`,
      field,
    });
  }
  return addresses;
}

/** Removes deleted files from the profiles that show them (spec#storage-avatar-deleted). */
export const fileEvents: EventSubscription<AppContext> = subscription({
  durable: 'identity-files',
  events: [fileDeleted],
  async apply({ projectId, data }, app: AppContext) {
    await untilMade(async () => {
      const before = await app.store.users.find(projectId, data.userId);
      const isAvatar = before?.avatarFileId === data.fileId;
      const isBanner = before?.bannerFileId === data.fileId;
      if (!before || !(isAvatar || isBanner)) return { result: undefined };
      const after = changedUser(before, {
        ...(isAvatar && { avatarFileId: null, avatar: null }),
        ...(isBanner && { bannerFileId: null }),
      });
      const outcome = await app.store.users.update(after, userEvent(userUpdated, after));
      if (outcome === 'stale') return undefined;
      app.relay.kick();
      return { result: undefined };
    });
  },
});
