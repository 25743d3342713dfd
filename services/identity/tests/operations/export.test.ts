import { exportSessions, exportUser, signIn } from '@kith/contracts';
import { ask } from '@kith/service';
import { handlerEngines, readSection } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { call, callInternal } from '../support/call.ts';
import type { TestIdentity } from '../support/identity.ts';
import { callerOfSession, password, sessionIdOf, signUpUser } from '../support/people.ts';
import { startForSuite } from '../support/suite.ts';

describe.each(handlerEngines())('the export of the data that identity stores about a user (%s)', (engine) => {
  let identity: TestIdentity;
  let projectId: string;

  startForSuite(engine, (started, project) => {
    [identity, projectId] = [started, project];
  });

  test('the first part contains the full profile of the user', async () => {
    const session = await signUpUser(identity.bus, projectId, { name: 'Zoë', metadata: { 'a.b': [1] } });
    const { user } = session;
    const before = Date.now();
    const answer = await call(identity.bus, exportUser, {
      projectId,
      caller: callerOfSession(session),
      params: { userId: user.id },
    });
    expect([answer.status, answer.body]).toEqual([
      200,
      { exportedAt: expect.any(String), user, factors: [], recoveryCodesLeft: 0 },
    ]);
    expect(Date.parse(answer.body.exportedAt)).toBeGreaterThanOrEqual(before);
    expect(answer.headers['Content-Disposition']).toBe(`attachment; filename="kith-export-${user.id}.json"`);
  });

  test('the user’s own sessions are returned in pages, newest first', async () => {
    const first = await signUpUser(identity.bus, projectId);
    await signUpUser(identity.bus, projectId);
    const ids = [sessionIdOf(first.accessToken)];
    for (const userAgent of ['Second ✓', 'Third', 'Fourth', 'Fifth']) {
      const body = { email: first.user.email, password };
      const answer = await call(identity.bus, signIn, { projectId, body, userAgent });
      ids.unshift(sessionIdOf(answer.body.accessToken));
    }
    const of = { projectId, userId: first.user.id };
    const pages = await readSection(identity.bus, exportSessions, { ...of, limit: 2 });
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    const sessions = pages.flat();
    expect(new Set(sessions.map(({ id }) => id))).toEqual(new Set(ids));
    const times = sessions.map(({ createdAt }) => Date.parse(createdAt));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(sessions.find(({ id }) => id === ids[3])).toMatchObject({ userAgent: 'Second ✓' });
    expect(await readSection(identity.bus, exportSessions, { ...of, limit: 5 })).toEqual([sessions]);
  });

  test('no token of a session is exported', async () => {
    const { user, refreshToken } = await signUpUser(identity.bus, projectId);
    const asked = { projectId, userId: user.id, after: null, limit: 10 };
    const text = await callInternal(identity.bus, exportSessions, asked);
    const { items } = JSON.parse(text);
    expect(items.map(Object.keys)).toEqual([
      ['id', 'createdAt', 'lastUsedAt', 'expiresAt', 'userAgent', 'ip'],
    ]);
    expect(text).not.toContain(refreshToken);
  });

  test('no sessions are returned for a project to which the user does not belong', async () => {
    const { user } = await signUpUser(identity.bus, projectId);
    const asked = { projectId: user.id, userId: user.id, after: null, limit: 10 };
    const context = { requestId: 'test-request', deadline: Date.now() + 20_000 };
    expect(await ask(identity.bus, exportSessions, asked, context)).toEqual({ items: [], next: null });
  });
});
