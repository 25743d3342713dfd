import { eventSubject, importConnections, importUsers, type PublicUser, userUpdated } from '@kith/contracts';
import { makeEvent } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from './support/world.ts';

describe.each(handlerEngines())('profiles, %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  async function publish(user: PublicUser, seq: number, name: string): Promise<void> {
    const event = makeEvent(userUpdated, {
      projectId: user.projectId,
      actorId: user.id,
      aggregate: { type: 'user', id: user.id, seq },
      data: { ...user, name },
      occurredAt: new Date(),
    });
    const body = new TextEncoder().encode(JSON.stringify(event));
    await world.bus.publish({ subject: eventSubject(world.bus.prefix, event), id: event.id, body });
  }

  const nameSeenBy = async (userId: string) =>
    (await world.list(userId)).body.connections[0]?.connectedUser.name;

  it('shows a changed profile in the list of a connected user', async () => {
    const [ann, bob] = (await world.newUsers(2)) as [string, string];
    await world.connect(ann, bob);
    expect(await nameSeenBy(ann)).toBeNull();
    expect((await world.rename(bob, 'Bob the Second')).status).toBe(200);
    await waitFor(async () => (await nameSeenBy(ann)) === 'Bob the Second');
  });

  it('applies changes in the order of their seq, not in the order in which the events arrive', async () => {
    const ann = await world.newUser();
    const bob = await world.newProfile();
    await world.connect(ann, bob.id);
    const marker = await world.newProfile();
    await publish(bob, 7, 'seventh');
    await publish(bob, 6, 'sixth');
    await publish(bob, 7, 'seventh again');
    await publish(marker, 2, 'marker');
    await waitFor(async () => {
      const found = await world.store.profiles.find(world.projectId, [marker.id]);
      return found.get(marker.id)?.name === 'marker';
    });
    expect(await nameSeenBy(ann)).toBe('seventh');
    await publish(bob, 8, 'eighth');
    await waitFor(async () => (await nameSeenBy(ann)) === 'eighth');
  });

  it('shows users immediately, even if their events have not arrived', async () => {
    // The test does not wait between signing up, asking and listing. So the connections service has to ask identity about users
    // whose events have not arrived yet.
    const [ann, bob] = [await world.newProfile({ name: 'Ann' }), await world.newProfile({ name: 'Bob' })];
    await world.connect(ann.id, bob.id);
    expect((await world.list(ann.id)).body.connections[0].connectedUser).toEqual(bob);
    expect((await world.list(bob.id)).body.connections[0].connectedUser).toEqual(ann);
  });

  it('finds imported users whom no list has shown yet', async () => {
    const params = { projectId: world.projectId };
    const users = ['Ann', 'Grace', 'Greta', 'Zoe'].map((name) => ({ id: crypto.randomUUID(), name }));
    const [ann, ...others] = users.map(({ id }) => id) as [string, ...string[]];
    const requestedAt = new Date().toISOString();
    const connections = others.map((receiverId) => ({ requesterId: ann, receiverId, requestedAt }));
    await world.call(importUsers, null, { params, body: { rows: users } });
    const imported = await world.call(importConnections, null, { params, body: { rows: connections } });
    expect(imported.body).toMatchObject({ imported: 3 });
    const { body } = await world.list(ann, 'query=gr');
    expect(body.pagination.totalCount).toBe(2);
    const names = body.connections.map((one: { connectedUser: PublicUser }) => one.connectedUser.name);
    expect(names.sort()).toEqual(['Grace', 'Greta']);
  });
});
