import { randomUUID } from 'node:crypto';
import {
  checkUsername,
  deleteUser,
  getUser,
  listProjectUsers,
  noticeSubject,
  type OwnUser,
  requestNewAccessToken,
  revocationNotice,
  signIn,
  signUp,
  suggestUsers,
  updateUser,
  usersByIds,
} from '@kith/contracts';
import { ask, type Caller } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { collectEvents } from '../support/events.ts';
import { startTestIdentity, type TestIdentity } from '../support/identity.ts';
import { callerOf, callerOfSession, makeProject, password, signUpUser } from '../support/people.ts';
import { startForSuite } from '../support/suite.ts';

const notFound = { error: 'No such user.', code: 'user/not-found' };
const forbidden = { error: 'This token does not allow that.', code: 'auth/forbidden' };

describe.each(handlerEngines())('deleting an account on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  const remove = (userId: string, caller: Caller, of = projectId) =>
    call(identity.bus, deleteUser, { projectId: of, params: { userId }, caller });
  const get = (userId: string, caller?: Caller) =>
    call(identity.bus, getUser, { projectId, params: { userId }, ...(caller ? { caller } : {}) });
  const signUpAda = () =>
    signUpUser(identity.bus, projectId, {
      email: `${randomUUID()}@example.org`,
      username: `ada.${randomUUID().slice(0, 8)}`,
      name: 'Ada Lovelace',
    });

  startForSuite(engine, (started, project) => {
    [identity, projectId] = [started, project];
  });

  test('answers 204, and no operation finds the user any more', async () => {
    const events = await collectEvents(identity.bus);
    const session = await signUpAda();
    const { user } = session;
    const { user: other } = await signUpUser(identity.bus, projectId);
    const caller = callerOfSession(session);
    const { status, text } = await remove(user.id.toUpperCase(), caller);
    expect([status, text]).toEqual([204, '']);

    const patch = { projectId, params: { userId: user.id }, caller, body: { name: 'Back' } };
    for (const answer of [
      await get(user.id),
      await get(user.id, caller),
      await call(identity.bus, updateUser, patch),
      await remove(user.id, caller),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual(notFound);
    }
    const answer = await call(identity.bus, signIn, { projectId, body: { email: user.email, password } });
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe('auth/invalid-credentials');
    const context = { requestId: 'test', deadline: Date.now() + 20_000 };
    const userIds = [user.id, other.id];
    const { users } = await ask(identity.bus, usersByIds, { projectId, userIds }, context);
    expect(users.map((one) => one.user.id)).toEqual([other.id]);
    const suggested = await call(identity.bus, suggestUsers, { projectId, query: 'query=lovelace' });
    expect(suggested.body).toEqual([]);
    const listed = await call(identity.bus, listProjectUsers, { params: { projectId } });
    expect(listed.body.data.map(({ id }: OwnUser) => id)).not.toContain(user.id);

    await waitFor(() => events.some(({ type }) => type === 'user.deleted'));
    expect(events.filter(({ aggregate }) => aggregate.id === user.id).at(-1)).toEqual({
      id: expect.any(String),
      type: 'user.deleted',
      version: 1,
      projectId,
      occurredAt: expect.any(String),
      actorId: user.id,
      aggregate: { type: 'user', id: user.id, seq: 2 },
      data: { id: user.id },
    });
  });

  test('frees e-mail address and username immediately for a new account', async () => {
    const session = await signUpAda();
    const { id, email, username } = session.user;
    await remove(id, callerOfSession(session));
    const query = `username=${username}`;
    expect((await call(identity.bus, checkUsername, { projectId, query })).body).toEqual({ available: true });
    const again = await call(identity.bus, signUp, { projectId, body: { email, username, password } });
    expect(again.status).toBe(201);
    expect(again.body.user.id).not.toBe(id);
  });

  test('after it, a repeated sign-up with the same idempotency key makes a new account', async () => {
    const body = { email: `${randomUUID()}@example.org`, password };
    const again = () => call(identity.bus, signUp, { projectId, body, idempotencyKey: 'of a sign-up' });
    const first = (await again()).body;
    expect((await again()).body).toEqual(first);
    expect((await remove(first.user.id, callerOfSession(first))).status).toBe(204);
    const second = await again();
    expect([second.status, second.body.user.email]).toEqual([201, body.email]);
    expect(second.body.user.id).not.toBe(first.user.id);
  });

  test('refuses to delete another user’s account, whether it exists or not, and finds no account of another project', async () => {
    const { user } = await signUpAda();
    const { user: eve } = await signUpUser(identity.bus, projectId);
    for (const userId of [user.id, randomUUID()]) {
      const { status, body } = await remove(userId, callerOf(eve));
      expect(status).toBe(403);
      expect(body).toEqual(forbidden);
    }
    const elsewhere = await makeProject(identity.bus);
    for (const answer of [
      await remove('nobody', callerOf(eve)),
      await remove(user.id, callerOf(user), elsewhere),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual(notFound);
    }
    expect((await get(user.id)).status).toBe(200);
  });

  test('ends every session immediately, and informs gateways of this', async () => {
    // With this long interval, no sweep runs during the test.
    await using own = await startTestIdentity(engine, { erasureTimes: { everyMs: 3_600_000 } });
    const { bus } = own;
    const of = await makeProject(bus);
    const first = await signUpUser(bus, of);
    const { user } = first;
    const body = { email: user.email, password };
    const second = (await call(bus, signIn, { projectId: of, body })).body;
    const told = new Set<string>();
    const subject = noticeSubject(bus.prefix, revocationNotice);
    await bus.listen(subject, (notice) => {
      const { sessions } = revocationNotice.body.parse(JSON.parse(new TextDecoder().decode(notice.body)));
      for (const { sessionId } of sessions) told.add(sessionId);
    });
    const params = { userId: user.id };
    await call(bus, deleteUser, { projectId: of, params, caller: callerOfSession(first) });
    const ids = [first, second].map(({ accessToken }) => decodeJwt(accessToken).sid as string);
    await waitFor(() => ids.every((id) => told.has(id)));
    for (const { refreshToken } of [first, second]) {
      const answer = await call(bus, requestNewAccessToken, { projectId: of, body: { refreshToken } });
      expect(answer.status).toBe(401);
      expect(answer.body.code).toBe('auth/unauthorized');
    }
  });
});
