import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import {
  createProject,
  internalSubject,
  listNotifications,
  type Project,
  type Session,
  signUp,
  usersByIds,
} from '@kith/contracts';
import { startIdentity } from '@kith/identity';
import { askForUsers, errorReply, successReply } from '@kith/service';
import { createStore, handlerEngines, testSecrets, waitFor } from '@kith/testing';
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { lifeOf, newUser } from './support/events.ts';
import { type Page, World } from './support/world.ts';

/** Empties the service's copy of profiles, as the README says. */
async function dropProfiles({ place }: World): Promise<void> {
  if (place.kind === 'sqlite') {
    using db = new DatabaseSync(place.file, { timeout: 5_000 });
    db.exec('DELETE FROM profiles WHERE expires IS NULL');
    return;
  }
  await using client = new MongoClient(place.url);
  await client
    .db(place.database)
    .collection('profiles')
    .deleteMany({ expiresAt: { $exists: false } });
}

describe.each(handlerEngines())('the service’s copy of profiles (%s)', (engine) => {
  test('is filled again from identity after it was emptied', async () => {
    await using place = await createStore(engine);
    await using world = await World.start(engine);
    await using _identity = await startIdentity(world.runtime, { store: place.config, secrets: testSecrets });
    const anybody = randomUUID();
    const project = await world.call(createProject, anybody, { body: JSON.stringify({ name: 'Test' }) });
    const { id: projectId } = project.json as Project;
    const body = JSON.stringify({ email: 'ann@example.org', password: 'a long password', name: 'Ann' });
    const { user } = (await world.call(signUp, anybody, { projectId, body })).json as Session;
    const held = async () => (await world.store.profiles.find(projectId, [user.id])).get(user.id);
    await waitFor(async () => (await held())?.name === 'Ann');

    await dropProfiles(world);
    expect(await held()).toBeUndefined();
    const receiverId = randomUUID();
    await world.publish(lifeOf({ projectId, requesterId: user.id, receiverId }).requested);
    const list = async () => (await world.call(listNotifications, receiverId, { projectId })).json as Page;
    await waitFor(async () => (await list()).data.length === 1);
    expect((await list()).data[0]?.metadata).toMatchObject({ initiatorId: user.id, initiatorName: 'Ann' });
    expect((await held())?.name).toBe('Ann');
  });

  test('may be out of date, but a new notification has the current name', async () => {
    await using world = await World.start(engine);
    const { bus } = world.runtime;
    const ann = await world.user('Ann');
    const renamed = { ...ann, name: 'Ann the Second' };
    const identity = await bus.serve(internalSubject(bus.prefix, usersByIds), 'identity', async () =>
      successReply(200, { users: [{ seq: 2, user: renamed }] }, {}),
    );
    const { id } = await world.receiver(ann, 1);
    expect((await world.list(id)).data[0]?.metadata).toMatchObject({ initiatorName: 'Ann the Second' });
    await identity.drain();
  });

  test('keeps the users of each answer of identity, even if a later answer does not come', async () => {
    await using world = await World.start(engine);
    const { bus } = world.runtime;
    const projectId = randomUUID();
    const users = Array.from({ length: 150 }, () => newUser(projectId, 'Ann'));
    let requests = 0;
    const identity = await bus.serve(
      internalSubject(bus.prefix, usersByIds),
      'identity',
      async ({ body }) => {
        if (++requests > 1) return errorReply('user/server-error');
        const { userIds } = JSON.parse(new TextDecoder().decode(body));
        const asked = users.filter(({ id }) => userIds.includes(id));
        return successReply(200, { users: asked.map((user) => ({ seq: 1, user })) }, {});
      },
    );
    const userIds = users.map(({ id }) => id);
    const context = { requestId: randomUUID(), deadline: Date.now() + 10_000 };
    await expect(
      askForUsers({ bus, store: world.store }, { projectId, userIds }, context),
    ).rejects.toMatchObject({ code: 'user/server-error' });
    expect([...(await world.store.profiles.find(projectId, userIds)).keys()].sort()).toEqual(
      userIds.slice(0, 100).sort(),
    );
    await identity.drain();
  });
});
