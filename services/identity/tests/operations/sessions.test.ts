import { randomUUID } from 'node:crypto';
import {
  changePassword,
  deleteSession,
  listSessions,
  requestNewAccessToken,
  type Session,
  signIn,
} from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import type { TestIdentity } from '../support/identity.ts';
import { callerOf, callerOfSession, password, sessionIdOf, signUpUser } from '../support/people.ts';
import { startForSuite } from '../support/suite.ts';

const newPassword = 'battery staple correct';

describe.each(handlerEngines())('the operations for sessions and passwords on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;

  startForSuite(engine, (started, project) => {
    [identity, projectId] = [started, project];
  });

  const enter = async (user: { email: string }, secret = password, userAgent = 'vitest') =>
    call(identity.bus, signIn, { projectId, body: { email: user.email, password: secret }, userAgent });
  const refresh = (session: Session) =>
    call(identity.bus, requestNewAccessToken, { projectId, body: { refreshToken: session.refreshToken } });
  const list = (session: Session, query = '') =>
    call(identity.bus, listSessions, { projectId, caller: callerOfSession(session), query });
  const change = (session: Session, body: unknown) =>
    call(identity.bus, changePassword, { projectId, caller: callerOfSession(session), body });

  test('lists the caller’s sessions, newest first, and marks the current session', async () => {
    const first = await signUpUser(identity.bus, projectId);
    await signUpUser(identity.bus, projectId);
    const second = await enter(first.user, password, 'Second ✓');
    const { status, body } = await list(first);
    expect(status).toBe(200);
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const row = { createdAt: timestamp, lastUsedAt: timestamp, ip: '192.0.2.1' };
    expect(body).toEqual({
      data: [
        { ...row, id: sessionIdOf(second.body.accessToken), userAgent: 'Second ✓', current: false },
        { ...row, id: sessionIdOf(first.accessToken), userAgent: 'vitest', current: true },
      ],
      pagination: { page: 1, pageSize: 20, totalPages: 1, totalItems: 2, hasMore: false },
    });
  });

  test('gives the same pages by number and by cursor', async () => {
    const first = await signUpUser(identity.bus, projectId);
    for (let count = 0; count < 4; count++) await enter(first.user);
    const all = (await list(first)).body.data;
    expect(all).toHaveLength(5);
    const walked: unknown[] = [];
    let query = 'limit=2';
    for (let page = 1; page <= 3; page++) {
      const [byCursor, byPage] = [await list(first, query), await list(first, `limit=2&page=${page}`)];
      expect(byCursor.text).toBe(byPage.text);
      expect(byCursor.body.pagination).toEqual({
        page,
        pageSize: 2,
        totalPages: 3,
        totalItems: 5,
        hasMore: page < 3,
      });
      walked.push(...byCursor.body.data);
      query = /^<\?(.*)>; rel="next"$/.exec(byCursor.headers.Link ?? '')?.[1] ?? '';
    }
    expect(query).toBe('');
    expect(walked).toEqual(all);
    const bad = await list(first, 'cursor=nonsense');
    expect(bad.status).toBe(400);
    expect(bad.body).toEqual({
      error: 'cursor does not belong to this list. Start the list again without a cursor.',
      code: 'auth/invalid-query',
      field: 'cursor',
    });
    const page = await list(first, 'page=0');
    expect([page.status, page.body.code, page.body.field]).toEqual([400, 'auth/invalid-query', 'page']);
  });

  test('ends one session, and no other', async () => {
    const first = await signUpUser(identity.bus, projectId);
    const second = (await enter(first.user)).body;
    const end = (sessionId: string, by: Session = first) =>
      call(identity.bus, deleteSession, {
        projectId,
        caller: callerOfSession(by),
        params: { sessionId },
      });
    const missing = { error: 'No such session.', code: 'auth/session-not-found' };
    const stranger = await signUpUser(identity.bus, projectId);
    for (const [id, by] of [
      [randomUUID(), first],
      ['nonsense', first],
      [sessionIdOf(second.accessToken), stranger],
    ] as const) {
      const { status, body } = await end(id, by);
      expect([status, body]).toEqual([404, missing]);
    }
    const ended = await end(sessionIdOf(second.accessToken));
    expect([ended.status, ended.text]).toEqual([204, '']);
    expect((await end(sessionIdOf(second.accessToken))).body).toEqual(missing);
    expect((await refresh(second)).status).toBe(401);
    expect((await refresh(first)).status).toBe(200);
    expect((await list(first)).body.data).toHaveLength(1);
  });

  test('changes the password, ends the other sessions and keeps the caller’s', async () => {
    const first = await signUpUser(identity.bus, projectId);
    const others = [(await enter(first.user)).body, (await enter(first.user)).body];
    const { status, body } = await change(first, { password, newPassword });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      message: 'The password is changed. Other sessions have ended.',
    });
    for (const other of others) expect((await refresh(other)).body.code).toBe('auth/unauthorized');
    const kept = await refresh(first);
    expect(kept.status).toBe(200);
    expect((await list(first)).body.data).toHaveLength(1);
    expect((await enter(first.user)).body.code).toBe('auth/invalid-credentials');
    const anew = await enter(first.user, newPassword);
    expect(anew.status).toBe(200);
    // The user changes the password again, in the new session. This also ends the first session, which the first change has
    // kept.
    expect((await change(anew.body, { password: newPassword, newPassword: password })).status).toBe(200);
    expect((await refresh(kept.body)).body.code).toBe('auth/unauthorized');
    expect((await refresh(anew.body)).status).toBe(200);
  });

  test.each([
    [401, 'auth/invalid-credentials', undefined, { password: 'wrong wrong', newPassword }],
    [400, 'auth/weak-password', 'newPassword', { password, newPassword: 'short' }],
    [400, 'auth/weak-password', 'newPassword', { password: 'wrong wrong', newPassword: '  short  ' }],
    [400, 'auth/invalid-body', 'newPassword', { password }],
    [400, 'auth/invalid-body', 'password', { newPassword }],
  ])('change-password answers %i %s, field %s', async (status, code, field, body) => {
    const session = await signUpUser(identity.bus, projectId);
    const answer = await change(session, body);
    expect(answer.status).toBe(status);
    const text = { error: expect.any(String), code };
    expect(answer.body).toEqual(field === undefined ? text : { ...text, field });
    expect((await enter(session.user)).status).toBe(200);
  });

  test('change-password names every wrong field', async () => {
    const answer = await change(await signUpUser(identity.bus, projectId), { newPassword: 'short' });
    expect(answer.body).toEqual({
      code: 'auth/invalid-body',
      field: 'password',
      error: 'password is required.',
      errors: [
        { field: 'password', error: 'password is required.' },
        { field: 'newPassword', error: 'newPassword must have at least 8 characters.' },
      ],
    });
  });

  test('does not change the password of a user who does not exist', async () => {
    const { user } = await signUpUser(identity.bus, projectId);
    const caller = callerOf({ ...user, id: randomUUID() });
    const answer = await call(identity.bus, changePassword, {
      projectId,
      caller,
      body: { password, newPassword },
    });
    expect(answer.status).toBe(401);
    const error = 'The account of this access token was deleted.';
    expect(answer.body).toEqual({ error, code: 'auth/unauthorized' });
  });
});
