import { eventSubject, userDeleted } from '@kith/contracts';
import { makeEvent } from '@kith/service';
import { availableEngines, type TestUser, waitFor } from '@kith/testing';
import { expect, test } from 'vitest';
import { startExportWorld } from './support/export-world.ts';
import { http } from './support/http.ts';

/** After this time, an import may use the id of an erased user again. */
const tenDaysMs = 10 * 24 * 3600 * 1000;

test.each(availableEngines())(
  'an old event of a user’s deletion does not erase a user who was imported again (%s)',
  async (engine) => {
    await using world = await startExportWorld(engine, { before: async () => undefined });
    const { id: projectId } = await world.createProject();
    const [back, friend, leaver] = [
      await world.createUser(projectId, { name: 'Back' }),
      await world.createUser(projectId, { name: 'Friend' }),
      await world.createUser(projectId, { name: 'Leaver' }),
    ];
    const ask = async <T>(user: TestUser, path: string, method = 'GET') => {
      const token = user.accessToken;
      const answer = await http(world.url, { method, path: `/v7/${projectId}${path}`, token });
      return (answer.text ? answer.json() : undefined) as T;
    };
    await world.connect(back, friend);
    await world.connect(back, leaver);
    await world.createCollection(back, 'kept');
    await world.createCollection(leaver, 'erased');
    const accepted = async () =>
      (await ask<{ data: { metadata: { initiatorName: string | null } }[] }>(back, '/app-notifications')).data
        .map(({ metadata }) => metadata.initiatorName)
        .sort();
    await waitFor(async () => (await accepted()).length === 2);

    // Publishes the deletion of the user's earlier account again, as if an operator had replayed a dead letter.
    const event = makeEvent(userDeleted, {
      projectId,
      actorId: back.id,
      aggregate: { type: 'user', id: back.id, seq: 7 },
      data: { id: back.id },
      occurredAt: new Date(Date.now() - tenDaysMs),
    });
    const body = new TextEncoder().encode(JSON.stringify(event));
    await world.bus.publish({ subject: eventSubject(world.bus.prefix, event), id: event.id, body });
    // Users are erased in the order of their deletion. So if the second user is erased and the first user is not, the old event
    // will never erase the first user.
    await ask(leaver, `/users/${leaver.id}`, 'DELETE');
    const names = async () => {
      const { connections } = await ask<{ connections: { connectedUser: { name: string } }[] }>(
        back,
        '/connections',
      );
      return connections.map(({ connectedUser }) => connectedUser.name);
    };
    // The copy of Leaver's profile is deleted first. Until the erasure ends, this user has no name.
    await waitFor(async () => (await names()).every((name) => name === 'Friend'), { timeoutMs: 20_000 });
    await waitFor(async () => !(await accepted()).includes('Leaver'), { timeoutMs: 20_000 });
    expect(await names()).toEqual(['Friend']);
    expect(await accepted()).toEqual(['Friend', null]);
    await waitFor(async () => (await world.bus.backlog('collections-users')).pending === 0);
    const root = await ask<{ id: string }>(back, '/collections/root');
    const below = await ask<{ name: string }[]>(back, `/collections/${root.id}/sub-collections`);
    expect(below.map(({ name }) => name)).toEqual(['kept']);
  },
  60_000,
);
