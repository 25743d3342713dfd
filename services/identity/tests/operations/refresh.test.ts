import { randomUUID } from 'node:crypto';
import {
  createProject,
  eventFilter,
  requestNewAccessToken,
  sessionRevoked,
  signIn,
  signOut,
  suspendUser,
} from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { call } from '../support/call.ts';
import { startTestIdentity, type TestIdentity } from '../support/identity.ts';
import { makeProject, password, sessionIdOf, signUpUser } from '../support/people.ts';
import { ageRotations, dumpStore } from '../support/raw-store.ts';

const unauthorized = {
  error: 'The refresh token is unknown, or its session has ended. Sign in again.',
  code: 'auth/unauthorized',
};
const reused = {
  error: 'This refresh token was used before, so its session has ended. Sign in again.',
  code: 'auth/token-reuse-detected',
};

describe.each(handlerEngines())('refresh and sign-out on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  const revoked: { data: { sessionId: string; reason: string }; aggregate: { seq: number } }[] = [];

  beforeAll(async () => {
    identity = await startTestIdentity(engine);
    projectId = await makeProject(identity.bus);
    const subjects = [eventFilter(identity.bus.prefix, sessionRevoked)];
    await identity.bus.consume({ durable: 'test-sessions', subjects }, async ({ body }) => {
      revoked.push(JSON.parse(new TextDecoder().decode(body)));
    });
  });
  afterAll(() => identity[Symbol.asyncDispose]());

  const refresh = (refreshToken: unknown, to = projectId) =>
    call(identity.bus, requestNewAccessToken, { projectId: to, body: { refreshToken }, userAgent: 'tab' });
  const leave = (refreshToken: unknown, to = projectId) =>
    call(identity.bus, signOut, { projectId: to, body: { refreshToken } });
  const later = (ms: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
  };
  const reasonsOf = (accessToken: string) =>
    revoked
      .filter(({ data }) => data.sessionId === sessionIdOf(accessToken))
      .map(({ data, aggregate }) => [data.reason, aggregate.seq]);

  test('gives a new pair of tokens for the same session each time', async () => {
    const first = await signUpUser(identity.bus, projectId);
    let { refreshToken } = first;
    for (let round = 0; round < 3; round++) {
      const { status, headers, body } = await refresh(refreshToken);
      expect(status).toBe(200);
      expect(headers['Cache-Control']).toBe('no-store');
      expect(body).toEqual({
        success: true,
        accessToken: expect.any(String),
        refreshToken: expect.stringMatching(/^[\w-]{68}$/),
        user: first.user,
      });
      expect(body.refreshToken).not.toBe(refreshToken);
      expect(sessionIdOf(body.accessToken)).toBe(sessionIdOf(first.accessToken));
      refreshToken = body.refreshToken;
    }
    const { sessions } = await dumpStore(identity.store);
    const own = sessions?.filter(({ userId }) => userId === first.user.id);
    expect(own).toHaveLength(1);
    expect(own?.[0]).toMatchObject({ userAgent: 'tab' });
  });

  test('gives the same successor again within the grace period', async () => {
    const { refreshToken } = await signUpUser(identity.bus, projectId);
    const successor = (await refresh(refreshToken)).body.refreshToken;
    await ageRotations(identity.store, 29_000);
    expect((await refresh(refreshToken)).body.refreshToken).toBe(successor);
    expect((await refresh(successor)).status).toBe(200);
  });

  test('ends the session if a used token is sent after the grace period', async () => {
    const first = await signUpUser(identity.bus, projectId);
    const second = await refresh(first.refreshToken);
    await ageRotations(identity.store, 31_000);
    const answer = await refresh(first.refreshToken);
    expect([answer.status, answer.body]).toEqual([401, reused]);
    for (const token of [first.refreshToken, second.body.refreshToken]) {
      const { status, body } = await refresh(token);
      expect([status, body]).toEqual([401, unauthorized]);
    }
    await waitFor(() => reasonsOf(first.accessToken).length > 0, { what: 'the event' });
    expect(reasonsOf(first.accessToken)).toEqual([['token-reused', 1]]);
  });

  test('ends the session if a token is sent after its successor was used, even within the grace period', async () => {
    const { refreshToken, user } = await signUpUser(identity.bus, projectId);
    const elsewhere = await call(identity.bus, signIn, { projectId, body: { email: user.email, password } });
    const second = await refresh(refreshToken);
    const third = await refresh(second.body.refreshToken);
    const stolen = await refresh(refreshToken);
    expect([stolen.status, stolen.body]).toEqual([401, reused]);
    const after = await refresh(third.body.refreshToken);
    expect([after.status, after.body]).toEqual([401, unauthorized]);
    expect((await refresh(elsewhere.body.refreshToken)).status).toBe(200);
  });

  test('stores no token that could be used: tokens and successors are hashed or sealed', async () => {
    const { refreshToken } = await signUpUser(identity.bus, projectId);
    const { body } = await refresh(refreshToken);
    const rows = JSON.stringify(await dumpStore(identity.store));
    for (const token of [refreshToken, body.refreshToken]) {
      expect(rows).not.toContain(token);
      expect(rows).not.toContain(token.slice(0, 24));
      expect(rows).not.toContain(token.slice(24));
    }
  });

  test.each([
    ['a text that is no token', () => 'nonsense'],
    ['a token that was never issued', () => 'A'.repeat(68)],
  ])('answers %s as unauthorized', async (_, token) => {
    const { status, body } = await refresh(token());
    expect([status, body]).toEqual([401, unauthorized]);
  });

  test('accepts a token only in its own project', async () => {
    const other = await call(identity.bus, createProject, { body: { name: 'Other' } });
    const { refreshToken } = await signUpUser(identity.bus, projectId);
    for (const to of [other.body.id, randomUUID()]) {
      const { status, body } = await refresh(refreshToken, to);
      expect([status, body]).toEqual([401, unauthorized]);
      expect((await leave(refreshToken, to)).status).toBe(204);
    }
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  test('accepts a token for 30 days, and then refuses it as unauthorized', async () => {
    const { refreshToken } = await signUpUser(identity.bus, projectId);
    const day = 24 * 3600_000;
    later(29 * day);
    const { status, body } = await refresh(refreshToken);
    expect(status).toBe(200);
    later(29 * day);
    expect((await refresh(body.refreshToken)).status).toBe(200);
    later(31 * day);
    const late = await refresh(body.refreshToken);
    expect([late.status, late.body]).toEqual([401, unauthorized]);
  });

  test('answers that the user is suspended, even long after the suspension began', async () => {
    const { refreshToken, user } = await signUpUser(identity.bus, projectId);
    const suspended = await call(identity.bus, suspendUser, { params: { projectId, userId: user.id } });
    expect(suspended.status).toBe(200);
    for (const ms of [0, 3 * 3600_000]) {
      later(ms);
      const { status, body } = await refresh(refreshToken);
      expect(status).toBe(403);
      expect(body).toEqual({ error: 'This account is suspended.', code: 'auth/suspended' });
    }
  });

  test('sign-out ends the session for any of its tokens, and gives the same answer for any other text', async () => {
    const { refreshToken, accessToken } = await signUpUser(identity.bus, projectId);
    const second = await refresh(refreshToken);
    for (const token of [refreshToken, refreshToken, 'nonsense', 'A'.repeat(68)]) {
      const { status, text } = await leave(token);
      expect([status, text]).toEqual([204, '']);
    }
    const { status, body } = await refresh(second.body.refreshToken);
    expect([status, body]).toEqual([401, unauthorized]);
    await waitFor(() => reasonsOf(accessToken).length > 0, { what: 'the event' });
    expect(reasonsOf(accessToken)).toEqual([['signed-out', 1]]);
  });

  test.each([
    ['request-new-access-token', requestNewAccessToken],
    ['sign-out', signOut],
  ])('%s refuses a malformed token', async (_, spec) => {
    for (const body of [{ refreshToken: 7 }, { refreshToken: 'x'.repeat(513) }]) {
      const answer = await call(identity.bus, spec, { projectId, body });
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({
        error: expect.stringMatching(/^refreshToken /),
        code: 'auth/invalid-body',
        field: 'refreshToken',
      });
    }
  });
});
