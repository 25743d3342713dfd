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
 * Returns a function that changes pictures as a request asks. The function gets a profile's pictures and returns the new
 * pictures. If the request makes a file the avatar, `avatar` becomes the address of this file. If the request sets `avatar` to
 * another value instead, the profile no longer has a file as its avatar. If a file in the request is not an image that belongs
 * to the user, throws `user/invalid-body` (spec#storage-avatar).
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
 * The avatar after a change. If the request names a new file, this file becomes the avatar. If it names no file, but an address
 * that differs from the present address, the profile gets this address and no file (spec#storage-avatar-replaced). If the
 * request only removes the avatar's file, the address is removed, too.
 * @param given.address The address of the file `given.avatarFileId`.
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
  const { avatarFileId, bannerFileId } = request.body;
  const addresses = await ownAddresses(bus, request);
  for (const [field, id] of Object.entries({ avatarFileId, bannerFileId })) {
    if (!id || addresses.has(id)) continue;
    throw new ApiError('user/invalid-body', {
      message: `${field} must be the id of an image of the user's own.`,
      field,
    });
  }
  return addresses;
}

/**
 * Asks the storage service which of the files in a request are images that belong to the user. Returns the addresses of these
 * images by file id.
 */
async function ownAddresses(bus: AppContext['bus'], request: Asked): Promise<ReadonlyMap<string, string>> {
  const { projectId, params, body } = request;
  const fileIds = [body.avatarFileId, body.bannerFileId].filter((id) => id !== null && id !== undefined);
  if (fileIds.length === 0) return new Map();
  const { images } = await ask(bus, ownImages, { projectId, userId: params.userId, fileIds }, request);
  return new Map(images.map(({ fileId, address }) => [fileId, address]));
}

/**
 * Removes the files of a request from the profile again if they were deleted before the profile was stored. This is needed
 * because the event of such a deletion may have arrived before the profile had the file.
 */
export async function dropDeleted(app: AppContext, request: Asked): Promise<void> {
  const { projectId, params, body } = request;
  const there = await ownAddresses(app.bus, request);
  for (const fileId of [body.avatarFileId, body.bannerFileId]) {
    if (fileId && !there.has(fileId)) await dropPicture(app, { projectId, userId: params.userId, fileId });
  }
}

/** Removes deleted files from the profiles that show them (spec#storage-avatar-deleted). */
export const fileEvents: EventSubscription<AppContext> = subscription({
  durable: 'identity-files',
  events: [fileDeleted],
  apply: ({ projectId, data }, app: AppContext) =>
    dropPicture(app, { projectId, userId: data.userId, fileId: data.fileId }),
});

async function dropPicture(
  app: AppContext,
  { projectId, userId, fileId }: { projectId: string; userId: string; fileId: string },
): Promise<void> {
  await untilMade(async () => {
    const before = await app.store.users.find(projectId, userId);
    const isAvatar = before?.avatarFileId === fileId;
    const isBanner = before?.bannerFileId === fileId;
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
}
