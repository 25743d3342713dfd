import { randomUUID } from 'node:crypto';
import {
  eventFilter,
  getRevocations,
  getUser,
  noticeSubject,
  type OutputOf,
  requestNewAccessToken,
  restoreUser,
  revocationNotice,
  signIn,
  signOut,
  suspendUser,
  updateProject,
  userCreated,
  userSuspended,
  userUpdated,
  verifyExternalUser,
} from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { eraseAccount } from '../../src/erase-account.ts';
import { actingUserHandler } from '../../src/operations/acting-user.ts';
import { Accounts } from '../../src/store/accounts.ts';
import { openStore } from '../../src/store/index.ts';
import { suspend } from '../../src/suspension.ts';
import { userEvent } from '../../src/user-events.ts';
import { makeApp } from '../support/app.ts';
import { call, callInternal } from '../support/call.ts';
import { startTestIdentity, type TestIdentity } from '../support/identity.ts';
import { callerOf, makeProject, password, sessionIdOf, signUpUser } from '../support/people.ts';
import { startForSuite } from '../support/suite.ts';
import { makeUser } from '../support/users.ts';

describe.each(handlerEngines())('suspension on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts what it expects of this value
  const events: any[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts what it expects of this value
  const notices: any[] = [];

  beforeAll(async () => {
    identity = await startTestIdentity(engine, { sweepEveryMs: 100 });
    const { bus } = identity;
    projectId = await makeProject(bus);
    const subjects = [userUpdated, userSuspended].map((spec) => eventFilter(bus.prefix, spec));
    await bus.consume({ durable: 'test-suspension', subjects }, async ({ body }) => {
      events.push(JSON.parse(new TextDecoder().decode(body)));
    });
    await bus.listen(noticeSubject(bus.prefix, revocationNotice), ({ body }) => {
      notices.push(JSON.parse(new TextDecoder().decode(body)));
    });
  });
  afterAll(() => identity[Symbol.asyncDispose]());

  const suspend = (userId: string, of = projectId) =>
    call(identity.bus, suspendUser, { params: { projectId: of, userId } });
  const restore = (userId: string, of = projectId) =>
    call(identity.bus, restoreUser, { params: { projectId: of, userId } });
  /** Waits for the events of a user's first suspension and of its end. */
  const eventsOf = async (userId: string) => {
    const own = await waitFor(() => {
      const found = events.filter(({ aggregate }) => aggregate.id === userId);
      return found.length === 2 && found;
    });
    expect(own.map(({ type, actorId, aggregate }) => [type, actorId, aggregate.seq])).toEqual([
      ['user.suspended', null, 2],
      ['user.updated', null, 3],
    ]);
    return own;
  };

  test("ends the user's sessions, informs gateways and services, and allows sign-in again when it is lifted", async () => {
    const session = await signUpUser(identity.bus, projectId);
    const { user } = session;
    const { status, body } = await suspend(user.id);
    expect(status).toBe(200);
    const suspension = { at: expect.any(String), until: null, reason: null };
    expect(body).toEqual({ ...user, isActive: false, updatedAt: expect.any(String), suspension });
    const again = await suspend(user.id);
    expect([again.status, again.body]).toEqual([200, body]);

    const entering = await call(identity.bus, signIn, { projectId, body: { email: user.email, password } });
    expect(entering.status).toBe(403);
    expect(entering.body).toEqual({ error: 'This account is suspended.', code: 'auth/suspended' });
    const wrong = await call(identity.bus, signIn, {
      projectId,
      body: { email: user.email, password: 'wrong wrong' },
    });
    expect(wrong.body.code).toBe('auth/invalid-credentials');

    const back = await restore(user.id);
    expect([back.status, back.body.isActive]).toEqual([200, true]);
    expect((await restore(user.id)).body).toEqual(back.body);
    const old = await call(identity.bus, requestNewAccessToken, {
      projectId,
      body: { refreshToken: session.refreshToken },
    });
    expect(old.body.code).toBe('auth/unauthorized');
    const anew = await call(identity.bus, signIn, { projectId, body: { email: user.email, password } });
    expect(anew.status).toBe(200);

    const own = await eventsOf(user.id);
    const { email, isVerified, isActive, lastActive, updatedAt, ...publicPart } = user;
    expect(own[0].data).toEqual(publicPart);
    const told = notices.filter((notice) => JSON.stringify(notice).includes(user.id));
    const none = { keys: [], sessions: [], suspended: [], restored: [] };
    const suspended = { ...none, suspended: [{ userId: user.id, until: expect.any(String) }] };
    const restored = { ...none, restored: [user.id] };
    // A repeated request tells again, because the process of the first request may have died before its notice.
    expect(told).toEqual([suspended, suspended, restored, restored]);
    const sid = sessionIdOf(session.accessToken);
    expect(notices.flatMap(({ sessions }) => sessions).map(({ sessionId }) => sessionId)).toContain(sid);
    expect(Date.parse(told[0].suspended[0].until) - Date.now()).toBeGreaterThan(30 * 60_000);
  });

  test('ends by itself, even if the user does not sign in, and gateways refuse the user only until then', async () => {
    const { user } = await signUpUser(identity.bus, projectId);
    const params = { projectId, userId: user.id };
    // The next request has to arrive before this time.
    const until = new Date(Date.now() + 6_000).toISOString();
    const { body } = await call(identity.bus, suspendUser, { params, body: { until, reason: 'spam' } });
    expect(body.suspension).toMatchObject({ until, reason: 'spam' });
    const told = () => notices.filter((notice) => JSON.stringify(notice).includes(user.id));
    await waitFor(() => told().length === 2, { what: 'the end' });
    expect(Date.now()).toBeGreaterThan(Date.parse(until));
    expect(told()).toMatchObject([{ suspended: [{ userId: user.id, until }] }, { restored: [user.id] }]);
    const read = await call(identity.bus, getUser, { projectId, params, caller: callerOf(user) });
    expect(read.body.isActive).toBe(true);
    await eventsOf(user.id);
  });

  test('lasts until the end that was set last, and gateways that ask for suspensions get this end', async () => {
    const { user } = await signUpUser(identity.bus, projectId);
    const params = { projectId, userId: user.id };
    const suspendUntil = async (until: string | null) =>
      (await call(identity.bus, suspendUser, { params, body: { until } })).body.suspension;
    const soon = new Date(Date.now() + 60_000).toISOString();
    const first = await suspendUntil(soon);
    const asked = async () => {
      const answer = JSON.parse(await callInternal(identity.bus, getRevocations, { after: null }));
      return answer.suspended.find(({ userId }: { userId: string }) => userId === user.id)?.until;
    };
    expect(await asked()).toBe(soon);
    expect(await suspendUntil(null)).toEqual({ at: first.at, until: null, reason: null });
    expect(Date.parse(await asked())).toBeGreaterThan(Date.parse(soon));
    expect((await restore(user.id)).body.suspension).toBe(null);
    expect(await asked()).toBeUndefined();
  });

  test('is refused for unknown users and for unknown projects', async () => {
    const { user } = await signUpUser(identity.bus, projectId);
    const missing = { error: 'No such user.', code: 'user/not-found' };
    for (const of of [suspend, restore]) {
      for (const { status, body } of [
        await of(randomUUID()),
        await of('nonsense'),
        await of(user.id, randomUUID()),
        await of(user.id, 'nonsense'),
      ]) {
        expect([status, body]).toEqual([404, missing]);
      }
    }
    const still = await call(identity.bus, getUser, {
      projectId,
      params: { userId: user.id },
      caller: callerOf(user),
    });
    expect(still.body.isActive).toBe(true);
  });
});

describe.each(handlerEngines())('a suspension that ends while the account is deleted, on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  beforeAll(async () => {
    identity = await startTestIdentity(engine, { sweepEveryMs: 3600_000 });
    projectId = await makeProject(identity.bus);
  });
  afterAll(() => identity[Symbol.asyncDispose]());

  /**
   * Makes a request of a user whose suspension is over. The account is deleted as soon as the request has read that the
   * suspension is over.
   */
  const deletedMeanwhile = async (
    user: { id: string },
    request: () => ReturnType<typeof call>,
  ): Promise<unknown> => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo, identity.store);
    const params = { projectId, userId: user.id };
    const until = new Date(Date.now() + 60_000).toISOString();
    expect((await call(identity.bus, suspendUser, { params, body: { until } })).status).toBe(200);
    const { suspensions } = Accounts.prototype;
    vi.spyOn(Accounts.prototype, 'suspensions').mockImplementationOnce(async function (
      this: Accounts,
      ...some: Parameters<typeof suspensions>
    ) {
      const said = await suspensions.apply(this, some);
      expect(await eraseAccount(app, params)).toBe(true);
      return said;
    });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    try {
      return (await request()).body.code;
    } finally {
      vi.useRealTimers();
      vi.restoreAllMocks();
    }
  };

  test('if it happens during a sign-in, the sign-in fails as for an unknown address', async () => {
    const { user } = await signUpUser(identity.bus, projectId);
    const body = { email: user.email, password };
    const request = () => call(identity.bus, signIn, { projectId, body });
    expect(await deletedMeanwhile(user, request)).toBe('auth/invalid-credentials');
  });

  test('if it happens during a refresh, the refresh fails as for an ended session', async () => {
    const { user, refreshToken } = await signUpUser(identity.bus, projectId);
    const request = () => call(identity.bus, requestNewAccessToken, { projectId, body: { refreshToken } });
    expect(await deletedMeanwhile(user, request)).toBe('auth/unauthorized');
  });

  test('if it happens during a sign-in with a token of the project’s own backend, the token is refused, as after every erasure', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const settings = { publicKey: await exportSPKI(publicKey) };
    await call(identity.bus, updateProject, { params: { projectId }, body: settings });
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: projectId, aud: 'kith.dev', sub: randomUUID(), iat: now, exp: now + 300 };
    const userJwt = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    const request = () => call(identity.bus, verifyExternalUser, { projectId, body: { userJwt } });
    const { user } = (await request()).body;
    expect(await deletedMeanwhile(user, request)).toBe('auth/invalid-token');
  });
});

test.each(handlerEngines())(
  'a server key acts for a user again as soon as the suspension is over, without waiting for a sweep (%s)',
  async (engine) => {
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo);
    const user = makeUser();
    const whose = { projectId: user.projectId, userId: user.id };
    await app.store.users.add(user, userEvent(userCreated, user));
    const context = { requestId: randomUUID(), deadline: Date.now() + 20_000 };
    const suspendedUntil = async (until: Date) => {
      await suspend(app, whose, { until, reason: null });
      return actingUserHandler.handle(whose as never, app, context);
    };
    expect(await suspendedUntil(new Date(Date.now() + 60_000))).toEqual({ user: null });
    expect(await suspendedUntil(new Date(Date.now() - 1))).toEqual({ user: { role: user.role } });
    expect((await app.store.users.find(user.projectId, user.id))?.isActive).toBe(true);
  },
);

describe.each(handlerEngines())('the revocations of many suspended users, on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  startForSuite(engine, (started, project) => {
    identity = started;
    projectId = project;
  });

  test('are returned in pages that fit into messages, with each user and each session once', async () => {
    const { accessToken, refreshToken } = await signUpUser(identity.bus, projectId);
    await call(identity.bus, signOut, { projectId, body: { refreshToken } });
    const suspendedAt = new Date(Date.now() - 60_000);
    const suspended = Array.from({ length: 4_100 }, () =>
      makeUser({ projectId, isActive: false, suspendedAt, seq: 0 }),
    );
    const store = await openStore(identity.store);
    await store.imports.add(projectId, suspended);
    await store.close();
    const pages: OutputOf<typeof getRevocations>[] = [];
    let after: string | null = null;
    do {
      pages.push(JSON.parse(await callInternal(identity.bus, getRevocations, { after })));
      after = pages.at(-1)?.next ?? null;
    } while (after !== null);
    expect(pages.map((page) => page.suspended.length)).toEqual([2_000, 2_000, 100]);
    const told = pages.flatMap((page) => page.suspended.map(({ userId }) => userId));
    expect(told.toSorted()).toEqual(suspended.map(({ id }) => id).toSorted());
    const sessions = pages.flatMap((page) => page.sessions.map(({ sessionId }) => sessionId));
    expect(sessions).toEqual([sessionIdOf(accessToken)]);
  });
});
