import { randomUUID } from 'node:crypto';
import {
  countConnections,
  countUserConnections,
  declineConnection,
  deleteConnection,
  deleteConnectionWithUser,
  getConnectionStatus,
} from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { refusal } from '../support/call.ts';
import { threePeopleForEach } from '../support/suite.ts';
import type { World } from '../support/world.ts';

describe.each(handlerEngines())('status, decline, withdraw, disconnect, %s', (engine) => {
  let world: World;
  let ann: string;
  let bob: string;
  let eve: string;
  threePeopleForEach(engine, (started, people) => {
    world = started;
    [ann, bob, eve] = people;
  });

  const statusOf = (by: string, userId: string) =>
    world.call(getConnectionStatus, by, { params: { userId } });
  const decline = (by: string, connectionId: string, projectId = world.projectId) =>
    world.call(declineConnection, by, { params: { connectionId }, projectId });
  const remove = (by: string, connectionId: string, projectId = world.projectId) =>
    world.call(deleteConnection, by, { params: { connectionId }, projectId });
  const removeWith = (by: string, userId: string) =>
    world.call(deleteConnectionWithUser, by, { params: { userId } });
  const none = { status: 200, body: { status: 'none' } };
  const notFound = refusal(404, 'connection/not-found');
  const unauthorized = refusal(403, 'connection/unauthorized');

  it('status: is none for strangers; pending, connected and declined are shown to both users', async () => {
    expect(await statusOf(ann, bob)).toMatchObject(none);
    const { id: connectionId, createdAt } = (await world.request(ann, bob)).body;
    const pending = { status: 'pending', connectionId, createdAt };
    expect((await statusOf(ann, bob.toUpperCase())).body).toEqual({ ...pending, type: 'sent' });
    expect((await statusOf(bob, ann)).body).toEqual({ ...pending, type: 'received' });
    const { respondedAt } = (await world.accept(bob, connectionId)).body;
    const connected = { status: 'connected', connectionId, connectedAt: respondedAt, requestedAt: createdAt };
    for (const [by, of] of [
      [ann, bob],
      [bob, ann],
    ] as const) {
      expect((await statusOf(by, of)).body).toEqual(connected);
    }
    await removeWith(ann, bob);
    const again = (await world.request(ann, bob)).body.id;
    const declined = (await decline(bob, again)).body;
    const shown = { status: 'declined', connectionId: again, respondedAt: declined.respondedAt };
    expect((await statusOf(ann, bob)).body).toEqual({ ...shown, type: 'sent' });
    expect((await statusOf(bob, ann)).body).toEqual({ ...shown, type: 'received' });
  });

  it('status: refuses the caller as the target, and users who do not exist', async () => {
    expect(await statusOf(ann, ann)).toMatchObject(refusal(400, 'connection/self-check'));
    for (const userId of [randomUUID(), 'nobody']) {
      expect(await statusOf(ann, userId)).toMatchObject(refusal(404, 'connection/user-not-found'));
    }
  });

  it('decline: only the receiver may decline, and only once; afterwards only the receiver may ask again', async () => {
    const { id } = (await world.request(ann, bob)).body;
    expect(await decline(ann, id)).toMatchObject(unauthorized);
    expect(await decline(eve, id)).toMatchObject(notFound);
    const answer = await decline(bob, id.toUpperCase());
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ id, status: 'declined', respondedAt: expect.stringMatching(/\.\d{3}Z$/) });
    for (const by of [ann, bob, eve]) {
      expect(await decline(by, id)).toMatchObject(notFound);
      expect(await world.accept(by, id)).toMatchObject(notFound);
    }
    expect(await world.request(ann, bob)).toMatchObject(refusal(409, 'connection/request-declined'));
    const anew = (await world.request(bob, ann)).body;
    expect(anew.id).not.toBe(id);
    expect(await decline(bob, anew.id)).toMatchObject(unauthorized);
    expect((await decline(ann, anew.id)).status).toBe(200);
    expect(await world.request(bob, ann)).toMatchObject(refusal(409, 'connection/request-declined'));
  });

  it('decline and delete: answer "not found" for an unknown id, a malformed id, a stranger and another project', async () => {
    const { id } = (await world.request(ann, bob)).body;
    const elsewhere = await world.newProject();
    for (const answer of [
      await decline(bob, randomUUID()),
      await decline(bob, 'nothing'),
      await decline(bob, id, elsewhere),
      await remove(ann, randomUUID()),
      await remove(ann, 'nothing'),
      await remove(eve, id),
      await remove(ann, id, elsewhere),
    ]) {
      expect(answer).toMatchObject(notFound);
    }
    expect((await statusOf(ann, bob)).body.status).toBe('pending');
  });

  it('delete by id: the requester withdraws, the receiver may not', async () => {
    const { id } = (await world.request(ann, bob)).body;
    expect(await remove(bob, id)).toMatchObject(unauthorized);
    const answer = await remove(ann, id);
    expect([answer.status, answer.body]).toEqual([200, { message: 'The request was withdrawn.' }]);
    for (const by of [ann, bob]) expect(await remove(by, id)).toMatchObject(notFound);
    expect(await statusOf(ann, bob)).toMatchObject(none);
    expect((await world.request(bob, ann)).status).toBe(201);
  });

  it.each(['requester', 'receiver'])('delete by id: the %s ends a connection', async (side) => {
    const id = await world.connect(ann, bob);
    expect(await remove(eve, id)).toMatchObject(notFound);
    const answer = await remove(side === 'requester' ? ann : bob, id);
    expect([answer.status, answer.body]).toEqual([200, { message: 'The connection was ended.' }]);
    expect(await statusOf(bob, ann)).toMatchObject(none);
  });

  it('delete by id and delete by user: do not find a declined request', async () => {
    const { id } = (await world.request(ann, bob)).body;
    await decline(bob, id);
    for (const by of [ann, bob]) {
      expect(await remove(by, id)).toMatchObject(notFound);
      expect(await removeWith(by, by === ann ? bob : ann)).toMatchObject(notFound);
    }
  });

  it('delete by user: withdraws, declines or disconnects', async () => {
    await world.request(ann, bob);
    const withdrawn = await removeWith(ann, bob.toUpperCase());
    expect([withdrawn.status, withdrawn.body]).toEqual([
      200,
      { message: 'The request was withdrawn.', action: 'withdraw' },
    ]);
    const { id } = (await world.request(ann, bob)).body;
    const declined = await removeWith(bob, ann);
    expect([declined.status, declined.body]).toEqual([
      200,
      { id, status: 'declined', respondedAt: (await statusOf(ann, bob)).body.respondedAt },
    ]);
    await world.connect(bob, ann);
    const ended = await removeWith(bob, ann);
    expect([ended.status, ended.body]).toEqual([
      200,
      { message: 'The connection was ended.', action: 'disconnect' },
    ]);
    expect(await statusOf(ann, bob)).toMatchObject(none);
  });

  it('delete by user: refuses the caller; finds nothing for strangers, unknown users and malformed ids', async () => {
    expect(await removeWith(ann, ann)).toMatchObject(refusal(400, 'connection/self-disconnect'));
    for (const userId of [bob, randomUUID(), 'nobody'])
      expect(await removeWith(ann, userId)).toMatchObject(notFound);
  });

  it('publishes each ending in an event with the data of the ended request or connection', async () => {
    const first = (await world.request(ann, bob)).body.id;
    await removeWith(ann, bob);
    const second = (await world.request(ann, bob)).body.id;
    await decline(bob, second);
    const third = await world.connect(bob, ann);
    await remove(ann, third);
    const events = await world.eventsOf(ann, bob, 7);
    const sent = { requesterId: ann, receiverId: bob };
    expect(events.map(({ type, actorId, data }) => ({ type, actorId, data }))).toMatchObject([
      { type: 'connection.requested', data: { connectionId: first } },
      { type: 'connection.withdrawn', actorId: ann, data: { connectionId: first, ...sent } },
      { type: 'connection.requested', data: { connectionId: second } },
      { type: 'connection.declined', actorId: bob, data: { connectionId: second, ...sent } },
      { type: 'connection.requested', data: { connectionId: third } },
      { type: 'connection.accepted', actorId: ann },
      {
        type: 'connection.disconnected',
        actorId: ann,
        data: { connectionId: third, requesterId: bob, receiverId: ann },
      },
    ]);
    expect(events.map(({ aggregate }) => aggregate.seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('counts the established connections of a user, for the user and for any other caller', async () => {
    const countOf = async (userId: string, by: string | null) =>
      (await world.call(countUserConnections, by, { params: { userId } })).body;
    await world.connect(ann, bob);
    await world.connect(eve, ann);
    await world.request(bob, eve);
    for (const [userId, count] of [
      [ann, 2],
      [bob, 1],
      [eve, 1],
    ] as const) {
      expect((await world.call(countConnections, userId)).body).toEqual({ count });
      for (const by of [null, ann, eve]) expect(await countOf(userId, by)).toEqual({ count });
    }
    await removeWith(bob, ann);
    expect((await world.call(countConnections, bob)).body).toEqual({ count: 0 });
    expect(await countOf(ann, null)).toEqual({ count: 1 });
    for (const userId of [randomUUID(), 'nobody']) {
      const answer = await world.call(countUserConnections, null, { params: { userId } });
      expect(answer).toMatchObject(refusal(404, 'connection/user-not-found'));
    }
    expect((await world.call(countConnections, ann, { projectId: await world.newProject() })).body).toEqual({
      count: 0,
    });
  });
});
