import { randomUUID } from 'node:crypto';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  changePassword,
  confirmFactor,
  createProject,
  deleteSession,
  deleteUser,
  endUserSessions,
  enrolFactor,
  exportUser,
  getJwks,
  getProject,
  getUser,
  listSessions,
  type OwnUser,
  requestNewAccessToken,
  type Session,
  signIn,
  signOut,
  signUp,
  updateProject,
  updateUser,
  verifyExternalUser,
} from '@kith/contracts';
import { apart } from '@kith/store';
import { createRuntime, createStore, handlerEngines, testSecrets, waitFor } from '@kith/testing';
import { decodeProtectedHeader, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { Secret, TOTP } from 'otpauth';
import { describe, expect, test, vi } from 'vitest';
import { startIdentity } from '../src/index.ts';
import { Accounts } from '../src/store/accounts.ts';
import { Erasure } from '../src/store/erasure.ts';
import { Factors } from '../src/store/factors.ts';
import { call } from './support/call.ts';
import { collectEvents } from './support/events.ts';
import { startTestIdentity, type TestIdentity } from './support/identity.ts';
import {
  callerOf,
  callerOfSession,
  makeProject,
  password,
  sessionIdOf,
  signUpUser,
} from './support/people.ts';
import { dumpStore } from './support/raw-store.ts';
import { startForSuite } from './support/suite.ts';

const newPassword = 'battery staple correct';

describe.each(handlerEngines())('requests that race on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;

  startForSuite(engine, (started, project) => {
    [identity, projectId] = [started, project];
  });

  const post = (body: unknown) => call(identity.bus, signUp, { projectId, body });
  const enter = ({ email }: { email: string }) =>
    call(identity.bus, signIn, { projectId, body: { email, password } });
  const refresh = ({ refreshToken }: Pick<Session, 'refreshToken'>) =>
    call(identity.bus, requestNewAccessToken, { projectId, body: { refreshToken } });
  const change = (session: Session, body: unknown, key: { idempotencyKey?: string } = {}) =>
    call(identity.bus, changePassword, { projectId, caller: callerOfSession(session), body, ...key });
  const get = ({ id: userId }: OwnUser) =>
    call(identity.bus, getUser, { projectId, params: { userId }, seesAll: true });
  const patch = (user: OwnUser, body: unknown) =>
    call(identity.bus, updateUser, { projectId, params: { userId: user.id }, caller: callerOf(user), body });
  const remove = (session: Session) => call(identity.bus, deleteUser, ownOf(session));
  const ownOf = (session: Session) => ({
    projectId,
    params: { userId: session.user.id },
    caller: callerOfSession(session),
  });

  test('of ten simultaneous sign-ups with the same e-mail address or with the same username, one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 2
          ? post({ email: `race${index}@example.org`, password, username: index % 4 === 1 ? 'race' : 'RACE' })
          : post({ email: index % 4 ? 'Race@example.org' : 'race@EXAMPLE.org', password }),
      ),
    );
    const codes = answers.map(({ status, body }) => (status === 201 ? 'won' : body.code)).sort();
    const lost = (code: string) => Array.from({ length: 9 }, () => code);
    expect(codes).toEqual([...lost('DUPLICATE_EMAIL'), ...lost('DUPLICATE_USERNAME'), 'won', 'won']);
  });

  test('of two simultaneous changes of a password, one succeeds', async () => {
    const first = await signUpUser(identity.bus, projectId);
    const second = (await enter(first.user)).body;
    const answers = await Promise.all([
      change(first, { password, newPassword: 'first first first' }),
      change(second, { password, newPassword: 'second second second' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  const endings: Record<string, (session: Session) => ReturnType<typeof call>> = {
    'an operator ends all sessions': ({ user }) =>
      call(identity.bus, endUserSessions, { params: { projectId, userId: user.id } }),
    'the user signs out': ({ refreshToken }) =>
      call(identity.bus, signOut, { projectId, body: { refreshToken } }),
    'the user ends the session': (session) => {
      const params = { sessionId: sessionIdOf(session.accessToken) };
      return call(identity.bus, deleteSession, { projectId, caller: callerOfSession(session), params });
    },
  };
  const moments = {
    'during the request': undefined,
    'before the answer of a request with a key is stored': 'a key',
  };
  const endingsAndMoments = Object.entries(endings).flatMap(([who, end]) =>
    Object.entries(moments).map(([when, key]) => [who, when, end, key] as const),
  );
  /** Ends a session with a request that is not part of the request under way. */
  const endApart = async (end: (typeof endings)[string], session: Session) => {
    expect((await apart(() => end(session))).status).toBe(204);
  };

  test.each(endingsAndMoments)(
    'a change of a password is refused if %s %s',
    async (_, __, end, idempotencyKey) => {
      const first = await signUpUser(identity.bus, projectId);
      const { update } = Accounts.prototype;
      vi.spyOn(Accounts.prototype, 'update').mockImplementationOnce(async function (
        this: Accounts,
        ...given
      ) {
        if (!idempotencyKey) await endApart(end, first);
        const outcome = await update.apply(this, given);
        if (idempotencyKey) await endApart(end, first);
        return outcome;
      });
      const body = { password, newPassword };
      const refused = await change(first, body, idempotencyKey ? { idempotencyKey } : {});
      expect(refused.body.code).toBe('auth/unauthorized');
      expect((await enter(first.user)).status).toBe(200);
    },
  );

  test.each(endingsAndMoments)(
    'a new second factor is refused if %s %s',
    async (_, __, end, idempotencyKey) => {
      const first = await signUpUser(identity.bus, projectId);
      const caller = callerOfSession(first);
      const enrolled = await call(identity.bus, enrolFactor, { projectId, caller, body: { type: 'totp' } });
      const { id: factorId, secret } = enrolled.body;
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
      const { change: changeBook } = Factors.prototype;
      vi.spyOn(Factors.prototype, 'change').mockImplementationOnce(async function (
        this: Factors,
        whose,
        make,
      ) {
        let isEnded = false;
        const result = await changeBook.call(this, whose, async (book) => {
          const made = await make(book);
          if (!idempotencyKey && !isEnded) await endApart(end, first);
          isEnded = true;
          return made;
        });
        if (idempotencyKey) await endApart(end, first);
        return result;
      });
      const asked = { projectId, caller, params: { factorId }, body: { code } };
      const refused = await call(identity.bus, confirmFactor, {
        ...asked,
        ...(idempotencyKey && { idempotencyKey }),
      });
      expect(refused.body.code).toBe('auth/unauthorized');
      expect((await enter(first.user)).status).toBe(200);
    },
  );

  test.each(endingsAndMoments)(
    'the deletion of an account is refused if %s %s',
    async (_, __, end, idempotencyKey) => {
      const first = await signUpUser(identity.bus, projectId);
      const { remove: erase } = Erasure.prototype;
      vi.spyOn(Erasure.prototype, 'remove').mockImplementationOnce(async function (this: Erasure, ...given) {
        if (!idempotencyKey) await endApart(end, first);
        const outcome = await erase.apply(this, given);
        if (idempotencyKey) await endApart(end, first);
        return outcome;
      });
      const asked = { ...ownOf(first), ...(idempotencyKey && { idempotencyKey }) };
      const refused = await call(identity.bus, deleteUser, asked);
      expect(refused.body.code).toBe('auth/unauthorized');
      expect((await enter(first.user)).status).toBe(200);
    },
  );

  test('a deletion with an idempotency key leaves one note in the list of erasures, even after a second attempt', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-erasures-'));
    const erasuresFile = join(folder.path, 'erasures.jsonl');
    await using own = await startTestIdentity(engine, { erasuresFile });
    const session = await signUpUser(own.bus, await makeProject(own.bus));
    const { user } = session;
    const asked = { ...ownOf(session), projectId: user.projectId };
    const { remove: erase } = Erasure.prototype;
    vi.spyOn(Erasure.prototype, 'remove').mockImplementationOnce(async function (this: Erasure, ...given) {
      const outcome = await erase.apply(this, given);
      await apart(() => call(own.bus, updateUser, { ...asked, body: { bio: 'faster' } }));
      return outcome;
    });
    expect((await call(own.bus, deleteUser, { ...asked, idempotencyKey: 'a key' })).status).toBe(204);
    const lines = (await readFile(erasuresFile, 'utf8')).split('\n').filter(Boolean);
    const [first, ...others] = lines.map((line) => JSON.parse(line));
    expect(others).toEqual([
      expect.objectContaining({ userId: user.id, withdraws: first.id }),
      expect.objectContaining({ userId: user.id, id: expect.any(String) }),
    ]);
  });

  test.each<[string, (session: Session) => ReturnType<typeof call>]>([
    ['a change of the password', (session) => change(session, { password, newPassword })],
    ['the deletion of the account', (session) => remove(session)],
    ['the export of the account', (session) => call(identity.bus, exportUser, ownOf(session))],
  ])('%s is refused if its session has just ended', async (_, ask) => {
    for (const end of Object.values(endings)) {
      const first = await signUpUser(identity.bus, projectId);
      expect((await end(first)).status).toBe(204);
      expect((await ask(first)).body.code).toBe('auth/unauthorized');
      expect((await enter(first.user)).status).toBe(200);
    }
  });

  test('sign-ins with the old password while it is being changed leave no session open', async () => {
    const first = await signUpUser(identity.bus, projectId);
    const entering = Array.from({ length: 6 }, () => enter(first.user));
    expect((await change(first, { password, newPassword })).status).toBe(200);
    for (const { status, body } of await Promise.all(entering)) {
      if (status === 200) expect((await refresh(body)).status).toBe(401);
      else expect(body.code).toBe('auth/invalid-credentials');
    }
    const { body } = await call(identity.bus, listSessions, { projectId, caller: callerOfSession(first) });
    expect(body.data).toHaveLength(1);
  });

  test('tabs that refresh one token get the same successor', async () => {
    const first = await signUpUser(identity.bus, projectId);
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(first)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    const [successor, ...others] = new Set(answers.map(({ body }) => body.refreshToken));
    expect(others).toEqual([]);
    expect((await refresh({ refreshToken: successor })).status).toBe(200);
  });

  test('simultaneous first sign-ins of an external user make one user', async () => {
    const keys = await generateKeyPair('RS256', { extractable: true });
    const body = { publicKey: await exportSPKI(keys.publicKey) };
    const { status } = await call(identity.bus, updateProject, { params: { projectId }, body });
    expect(status).toBe(200);
    const userJwt = await new SignJWT({ sub: 'f-race', userData: { username: 'external' } })
      .setIssuer(projectId)
      .setAudience('kith.dev')
      .setIssuedAt()
      .setExpirationTime('5m')
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .sign(keys.privateKey);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        call(identity.bus, verifyExternalUser, { projectId, body: { userJwt } }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(new Set(answers.map((answer) => answer.body.user.id)).size).toBe(1);
    const { users } = await dumpStore(identity.store);
    expect(users?.filter(({ foreignId }) => foreignId === 'f-race')).toHaveLength(1);
  });

  test('of several changes of a profile, none is lost', async () => {
    const { user } = await signUpUser(identity.bus, projectId);
    const fields = ['name', 'avatar', 'bio', 'location'];
    const answers = await Promise.all(fields.map((field) => patch(user, { [field]: `/new ${field}` })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await get(user);
    expect(body).toMatchObject(Object.fromEntries(fields.map((field) => [field, `/new ${field}`])));
  });

  test('of several changes of a project, none is lost', async () => {
    const settings = {
      name: 'New',
      limits: { 'identity.sign-in': { max: 5, windowSeconds: 60 }, 'connections.list': null },
      webOrigins: ['https://app.example.org'],
      publicProfiles: 'none',
      publicConnections: false,
    };
    const { id } = (await call(identity.bus, createProject, { body: { name: 'Test' } })).body;
    const params = { projectId: id };
    const changes = Object.entries(settings).map(([field, value]) => ({ [field]: value }));
    const answers = await Promise.all(
      changes.map((body) => call(identity.bus, updateProject, { params, body })),
    );
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
    expect((await call(identity.bus, getProject, { params })).body).toMatchObject(settings);
  });

  test('if an account is deleted while it is being changed, it is deleted once, and no event comes after the deletion', async () => {
    const events = await collectEvents(identity.bus, randomUUID());
    for (let round = 0; round < 5; round++) {
      const first = await signUpUser(identity.bus, projectId, { name: 'Ada Lovelace' });
      const { user } = first;
      const answers = await Promise.all([
        patch(user, { name: 'A' }),
        remove(first),
        patch(user, { name: 'B' }),
        remove(first),
        patch(user, { name: 'C' }),
      ]);
      const statuses = answers.map(({ status }) => status);
      // The slower deletion finds no account any more, or still finds it, but with an ended session.
      expect([
        [204, 401],
        [204, 404],
      ]).toContainEqual([statuses[1], statuses[3]].sort());
      for (const index of [0, 2, 4]) expect([200, 404]).toContain(statuses[index]);
      const own = () => events.filter(({ aggregate }) => aggregate.id === user.id);
      await waitFor(() => own().some(({ type }) => type === 'user.deleted'));
      const inOrder = own().toSorted((a, b) => a.aggregate.seq - b.aggregate.seq);
      expect(inOrder.at(-1)?.type).toBe('user.deleted');
      expect(inOrder.map(({ aggregate }) => aggregate.seq)).toEqual(inOrder.map((_, index) => index + 1));
      expect((await get(user)).status).toBe(404);
    }
  });

  test('instances that start at the same time sign with one key, and so does an instance that starts later', async () => {
    await using place = await createStore(engine);
    const published: unknown[] = [];
    const used = new Set<unknown>();
    const runOnce = async () => {
      await using runtime = await createRuntime(engine);
      await using _service = await startIdentity(runtime, { store: place.config, secrets: testSecrets });
      published.push((await call(runtime.bus, getJwks)).body);
      const { accessToken } = await signUpUser(runtime.bus, await makeProject(runtime.bus));
      used.add(decodeProtectedHeader(accessToken).kid);
    };
    await Promise.all([runOnce(), runOnce(), runOnce()]);
    await runOnce();
    expect(new Set(published.map((keys) => JSON.stringify(keys))).size).toBe(1);
    expect(used.size).toBe(1);
    expect((await dumpStore(place.config)).keys).toHaveLength(1);
  });
});
