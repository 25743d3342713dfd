import type { Collection, StoredFile } from '@kith/contracts';
import { type TestPlatform, type TestUser, waitFor } from '@kith/testing';
import { http } from '../http.ts';
import { privateKey } from '../keys.ts';
import { filePart, multipart, smallPng } from '../multipart.ts';

/**
 * Valid values for the parameters and fields of requests, for example ids of stored objects. Each key is the name of a
 * parameter or a field.
 */
export type Things = Record<string, unknown>;

/** A user who has things of every kind. */
export interface Somebody {
  user: TestUser;
  things: Things;
}

/**
 * Makes a user who has things of every kind. `friend` is connected with this user, and `asker` has asked this user to connect.
 */
export async function makeSomebody(
  platform: TestPlatform,
  { friend, asker }: Record<'friend' | 'asker', TestUser>,
): Promise<Somebody> {
  const { projectId } = friend;
  const user = await platform.createUser(projectId);
  const scope = `/v7/${projectId}`;
  const own = { token: user.accessToken };
  const connectionId = await platform.connect(friend, user);
  await platform.call('POST', `${scope}/users/${user.id}/connection`, { token: asker.accessToken, body: {} });
  const { id: collectionId }: Collection = await platform.createCollection(user, 'Folder');
  await platform.call('POST', `${scope}/collections/${collectionId}/entities`, {
    ...own,
    body: { entityId: 'post' },
  });
  const form = multipart([filePart(smallPng), { name: 'sizes', value: '{"small":8}' }]);
  const answer = await http(platform.url, {
    method: 'POST',
    path: `${scope}/storage/images`,
    ...own,
    headers: { 'content-type': form.type },
    body: form.body,
  });
  const { fileId } = answer.json() as StoredFile;
  const notificationId = await waitFor(
    async () => {
      const { data } = await platform.call<{ data: { id: string }[] }>(
        'GET',
        `${scope}/app-notifications`,
        own,
      );
      return data[0]?.id;
    },
    { what: 'a notification' },
  );
  const [session] = (await platform.call<{ data: { id: string }[] }>('GET', `${scope}/auth/sessions`, own))
    .data;
  const { email, password, refreshToken } = user;
  return {
    user,
    things: {
      ...{
        projectId,
        userId: friend.id,
        connectionId,
        collectionId,
        fileId,
        variant: 'small',
        notificationId,
      },
      ...{ sessionId: session?.id, entityId: 'post', email, password, refreshToken, privateKey },
      avatarFileId: fileId,
    },
  };
}
