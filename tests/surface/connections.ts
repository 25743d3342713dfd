import { randomUUID } from 'node:crypto';
import {
  acceptConnection,
  blockUser,
  declineConnection,
  deleteConnection,
  deleteConnectionWithUser,
  getConnectionStatus,
  requestConnection,
} from '@kith/contracts';
import type { TestUser } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { refusesStrangers } from '../support/surface/guards.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

export const connections = surfaceSuite('connections', (world) => {
  let ada: TestUser;
  let grace: TestUser;
  let third: TestUser;
  beforeAll(async () => {
    ada = await world.user({ name: 'Ada' });
    grace = await world.user({ name: 'Grace' });
    third = await world.user();
  });

  /** The input of a call by one user about another user. */
  const about = (by: TestUser, other: { id: string }) => ({
    token: by.accessToken,
    params: { userId: other.id },
  });
  const of = (by: TestUser, connectionId: string) => ({ token: by.accessToken, params: { connectionId } });
  const request = async (by: TestUser, other: TestUser, body?: unknown) =>
    (await world.ok(requestConnection, { ...about(by, other), body })).body.id;
  const status = async (by: TestUser, other: TestUser) =>
    (await world.ok(getConnectionStatus, about(by, other))).body;
  const connect = async (by: TestUser, other: TestUser) => {
    const id = await request(by, other);
    await world.ok(acceptConnection, of(other, id));
    return id;
  };
  const end = (by: TestUser, other: TestUser) => world.ok(deleteConnectionWithUser, about(by, other));
  const nobody = () => ['nonsense', randomUUID(), world.stranger.id].map((id) => ({ id }));

  it('every operation checks the token before all else', () =>
    refusesStrangers(world, features.connections.operations));

  it('a request is refused first for its message, then for the caller’s own id, then for an unknown receiver', async () => {
    const code = 'connection/invalid-message';
    for (const message of [7, {}, 'x'.repeat(1001), 'lone \ud800']) {
      const body = { message };
      await world.refused(requestConnection, { ...about(ada, ada), body }, code, { field: 'message' });
    }
    await world.refused(requestConnection, about(ada, ada), 'connection/self-request');
    for (const one of nobody()) {
      await world.refused(requestConnection, about(ada, one), 'connection/user-not-found');
    }
  });

  it('a request is pending until it is accepted, and then a connection until it is ended', async () => {
    expect(await status(ada, grace)).toEqual({ status: 'none' });
    const message = `  ${'😀'.repeat(1000)}  `;
    const asked = await world.ok(requestConnection, { ...about(ada, grace), body: { message } });
    const { id, createdAt } = asked.body;
    expect(asked.body).toEqual({ id, status: 'pending', createdAt: instant });
    const pending = { status: 'pending', connectionId: id, createdAt };
    expect(await status(ada, grace)).toEqual({ ...pending, type: 'sent' });
    expect(await status(grace, ada)).toEqual({ ...pending, type: 'received' });
    await world.refused(requestConnection, about(ada, grace), 'connection/request-pending');
    await world.refused(requestConnection, about(grace, ada), 'connection/request-pending');

    await world.refused(acceptConnection, of(ada, id), 'connection/unauthorized');
    await world.refused(declineConnection, of(ada, id), 'connection/unauthorized');
    await world.refused(deleteConnection, of(grace, id), 'connection/unauthorized');
    for (const spec of [acceptConnection, declineConnection, deleteConnection]) {
      await world.refused(spec, of(third, id), 'connection/not-found');
      await world.refused(spec, of(ada, randomUUID()), 'connection/not-found');
      await world.refused(spec, of(ada, 'nonsense'), 'connection/not-found');
    }
    const accepted = await world.ok(acceptConnection, of(grace, id.toUpperCase()));
    expect(accepted.body).toEqual({ id, status: 'accepted', respondedAt: instant });
    const connected = {
      status: 'connected',
      connectionId: id,
      connectedAt: accepted.body.respondedAt,
      requestedAt: createdAt,
    };
    expect(await status(ada, grace)).toEqual(connected);
    expect(await status(grace, ada)).toEqual(connected);
    for (const [by, other] of [
      [ada, grace],
      [grace, ada],
    ] as const) {
      await world.refused(requestConnection, about(by, other), 'connection/already-connected');
      await world.refused(acceptConnection, of(by, id), 'connection/not-found');
      await world.refused(declineConnection, of(by, id), 'connection/not-found');
    }
    await world.refused(deleteConnection, of(third, id), 'connection/not-found');
    expect((await world.ok(deleteConnection, of(grace, id))).body).toEqual({
      message: 'The connection was ended.',
    });
    await world.refused(deleteConnection, of(ada, id), 'connection/not-found');
    expect(await status(ada, grace)).toEqual({ status: 'none' });
  });

  it('a requester withdraws a pending request', async () => {
    const id = await request(ada, grace);
    const { body } = await world.ok(deleteConnection, of(ada, id));
    expect(body).toEqual({ message: 'The request was withdrawn.' });
    await world.refused(acceptConnection, of(grace, id), 'connection/not-found');
    expect(await status(grace, ada)).toEqual({ status: 'none' });
  });

  it('after a decline only the former receiver may send a request, which gets a new id', async () => {
    const id = await request(ada, grace);
    const declined = await world.ok(declineConnection, { ...of(grace, id), method: 'PUT' });
    const { respondedAt } = declined.body;
    expect(declined.body).toEqual({ id, status: 'declined', respondedAt: instant });
    const state = { status: 'declined', connectionId: id, respondedAt };
    expect(await status(ada, grace)).toEqual({ ...state, type: 'sent' });
    expect(await status(grace, ada)).toEqual({ ...state, type: 'received' });
    await world.refused(requestConnection, about(ada, grace), 'connection/request-declined');
    for (const spec of [acceptConnection, declineConnection, deleteConnection]) {
      await world.refused(spec, of(grace, id), 'connection/not-found');
    }
    await world.refused(deleteConnectionWithUser, about(ada, grace), 'connection/not-found');
    const anew = await request(grace, ada);
    expect(anew).not.toBe(id);
    expect(await status(ada, grace)).toMatchObject({
      status: 'pending',
      type: 'received',
      connectionId: anew,
    });
    await world.ok(acceptConnection, { ...of(ada, anew), method: 'PUT' });
    await end(ada, grace);
    await world.ok(declineConnection, of(grace, await request(ada, grace)));
    await request(grace, ada);
    await end(grace, ada);
  });

  it('DELETE by user id withdraws or declines a request, or ends a connection', async () => {
    await request(ada, grace);
    const withdrawn = { message: 'The request was withdrawn.', action: 'withdraw' };
    expect((await end(ada, grace)).body).toEqual(withdrawn);
    const id = await connect(ada, grace);
    const disconnected = { message: 'The connection was ended.', action: 'disconnect' };
    expect((await end(grace, ada)).body).toEqual(disconnected);
    const second = await request(ada, grace);
    expect(second).not.toBe(id);
    const declined = { id: second, status: 'declined', respondedAt: instant };
    expect((await end(grace, ada)).body).toEqual(declined);

    await world.refused(deleteConnectionWithUser, about(ada, ada), 'connection/self-disconnect');
    await world.refused(getConnectionStatus, about(ada, ada), 'connection/self-check');
    for (const one of [...nobody(), third]) {
      await world.refused(deleteConnectionWithUser, about(ada, one), 'connection/not-found');
    }
    for (const one of nobody()) {
      await world.refused(getConnectionStatus, about(ada, one), 'connection/user-not-found');
    }
  });

  it('as long as there is a block, neither user may send a request, even after an earlier decline', async () => {
    const [blocker, blocked] = [await world.user(), await world.user()];
    const id = await request(blocked, blocker);
    await world.ok(declineConnection, of(blocker, id));
    await world.ok(blockUser, about(blocker, blocked));
    await world.refused(requestConnection, about(blocked, blocker), 'connection/not-allowed');
    await world.refused(requestConnection, about(blocker, blocked), 'connection/not-allowed');
  });

  it('of several simultaneous requests between two users, exactly one succeeds', async () => {
    const [one, other] = [await world.user(), await world.user()];
    const asks = Array.from({ length: 8 }, (_, turn) => {
      const given = turn % 2 ? about(one, other) : about(other, one);
      return world.ok(requestConnection, given).then(
        () => 'made',
        () => world.refused(requestConnection, given, 'connection/request-pending').then(() => 'pending'),
      );
    });
    const outcomes = await Promise.all(asks);
    expect(outcomes.filter((outcome) => outcome === 'made')).toHaveLength(1);
  });
});
