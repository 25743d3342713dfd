import {
  createImage,
  createProject,
  fileDeleted,
  getUser,
  internalSubject,
  ownImages,
  signUp,
  updateUser,
} from '@kith/contracts';
import { startIdentity } from '@kith/identity';
import { callOperation, createStore, handlerEngines, testSecrets, waitFor } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { smallPng } from '../../../tests/support/multipart.ts';
import { callerOf, upload } from './support/bytes-client.ts';
import { World } from './support/world.ts';

describe.each(handlerEngines())('pictures of profiles (%s)', (engine) => {
  it('are removed if the event of the file’s deletion arrives while identity stores the profile', async () => {
    await using world = await World.start(engine);
    await using place = await createStore(engine);
    const { bus } = world.runtime;
    await using _identity = await startIdentity(world.runtime, { store: place.config, secrets: testSecrets });
    const projectId = (await callOperation(bus, createProject, { body: { name: 'Test' } })).body.id as string;
    const body = { email: 'ann@example.org', password: 'correct horse' };
    const userId = (await callOperation(bus, signUp, { projectId, body })).body.user.id as string;
    const owner = { projectId, userId };
    const fileId = (await upload(world.url(), createImage, owner, smallPng))?.json.fileId as string;

    // The image exists when identity asks for it. But before identity stores the profile, the image is deleted, and identity
    // handles the event of the deletion.
    const request = bus.request.bind(bus);
    bus.request = async (subject, ...rest) => {
      const answer = await request(subject, ...rest);
      if (subject !== internalSubject(bus.prefix, ownImages)) return answer;
      bus.request = request;
      expect((await world.delete(owner, fileId)).status).toBe(204);
      const isApplied = async () =>
        world.events.some(({ type }) => String(type) === fileDeleted.type) &&
        (await bus.backlog('identity-files')).pending === 0;
      await waitFor(isApplied, { what: 'the event' });
      return answer;
    };
    const call = { projectId, params: { userId }, caller: callerOf(userId) };
    const changed = { ...call, body: { avatarFileId: fileId, bannerFileId: fileId } };
    expect((await callOperation(bus, updateUser, changed)).status).toBe(200);
    expect((await callOperation(bus, getUser, call)).body).toMatchObject({
      avatarFileId: null,
      avatar: null,
      bannerFileId: null,
    });
  });
});
