import { randomUUID } from 'node:crypto';
import {
  deleteUser,
  getUserByForeignId,
  importUsers,
  suspendUser,
  updateProject,
  updateUser,
  userUpdated,
  verifyExternalUser,
} from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { CompactSign, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { changedUser } from '../../src/changed-user.ts';
import { Erasure } from '../../src/store/erasure.ts';
import { openStore, type User } from '../../src/store/index.ts';
import { userEvent } from '../../src/user-events.ts';
import { call } from '../support/call.ts';
import { collectEvents } from '../support/events.ts';
import { startTestIdentity, type TestIdentity } from '../support/identity.ts';
import { callerOf, callerOfSession, makeProject, signUpUser } from '../support/people.ts';
import { dumpStore } from '../support/raw-store.ts';

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

const invalid = { error: 'The user token is not valid.', code: 'auth/invalid-token' };
const now = () => Math.floor(Date.now() / 1000);

describe.each(handlerEngines())('the sign-in of external users on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  let keys: Keys;

  beforeAll(async () => {
    identity = await startTestIdentity(engine);
    keys = await generateKeyPair('RS256', { extractable: true });
    projectId = await registered(await exportSPKI(keys.publicKey));
  });
  afterEach(() => vi.useRealTimers());
  afterAll(() => identity[Symbol.asyncDispose]());

  const registered = async (publicKey: unknown) => {
    const id = await makeProject(identity.bus);
    const { status } = await call(identity.bus, updateProject, {
      params: { projectId: id },
      body: { publicKey },
    });
    expect(status).toBe(200);
    return id;
  };
  const sign = (claims: JWTPayload, options: { key?: Keys['privateKey']; alg?: string } = {}) =>
    new SignJWT({
      ...{ iss: projectId, aud: 'kith.dev', sub: 'f-1', iat: now(), exp: now() + 300 },
      ...claims,
    })
      .setProtectedHeader({ alg: options.alg ?? 'RS256', typ: 'JWT' })
      .sign(options.key ?? keys.privateKey);
  const verify = async (userJwt: unknown, to = projectId) =>
    call(identity.bus, verifyExternalUser, { projectId: to, body: { userJwt } });

  test('creates a user with the data in the token, and later updates the user', async () => {
    const events = await collectEvents(identity.bus, 'test-external');
    const userData = {
      id: 'f-new',
      username: 'Ext.1',
      name: ' Ada ',
      bio: 'x'.repeat(301),
      birthdate: 'soon',
      metadata: { a: 1 },
      role: 'admin',
      reputation: 99,
      email: 'a@example.org',
      isVerified: true,
    };
    const first = await verify(await sign({ sub: 'f-new', role: 'admin', userData }));
    expect(first.status).toBe(200);
    expect(first.headers['Cache-Control']).toBe('no-store');
    expect(first.body).toMatchObject({
      success: true,
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      user: {
        foreignId: 'f-new',
        projectId,
        role: 'visitor',
        name: 'Ada',
        username: 'Ext.1',
        bio: null,
        birthdate: null,
        metadata: { a: 1 },
        reputation: 0,
        email: null,
        isVerified: false,
        isActive: true,
      },
    });
    const { user } = first.body;
    await call(identity.bus, updateUser, {
      projectId,
      params: { userId: user.id },
      caller: callerOf(user),
      body: { location: 'London' },
    });
    const second = await verify(await sign({ sub: 'f-new', userData: { name: 'Countess', bio: null } }));
    expect(second.body.user).toEqual({
      ...user,
      name: 'Countess',
      location: 'London',
      lastActive: expect.any(String),
      updatedAt: expect.any(String),
    });
    const third = await verify(await sign({ sub: 'f-new' }));
    expect(third.body.user.id).toBe(user.id);
    const own = () => events.filter(({ aggregate }) => aggregate.id === user.id);
    await waitFor(() => own().length === 3, { what: 'the events' });
    expect(own().map(({ type, aggregate }) => [type, aggregate.seq])).toEqual([
      ['user.created', 1],
      ['user.updated', 2],
      ['user.updated', 3],
    ]);
  });

  test.each([
    ['ES256', 'PEM'],
    ['EdDSA', 'PEM'],
    ['ES256', 'JWK'],
    ['EdDSA', 'JWK'],
  ])('accepts a token signed with %s, with the key given as %s', async (alg, form) => {
    const pair = await generateKeyPair(alg, { extractable: true });
    const text = form === 'PEM' ? await exportSPKI(pair.publicKey) : await exportJWK(pair.publicKey);
    const id = await registered(text);
    const token = await sign({ iss: id.toUpperCase() }, { alg, key: pair.privateKey });
    expect((await verify(token, id)).status).toBe(200);
    const other = await sign({ iss: id });
    expect((await verify(other, id)).body).toEqual(invalid);
  });

  test.each<[string, () => Promise<string> | string]>([
    ['no token', () => 'nonsense'],
    ['another key', async () => sign({}, { key: (await generateKeyPair('RS256')).privateKey })],
    [
      'another algorithm of the same key type',
      async () => {
        const { privateKey } = await generateKeyPair('PS256');
        return sign({}, { alg: 'PS256', key: privateKey });
      },
    ],
    [
      'no signature',
      async () => {
        const [, payload] = (await sign({})).split('.');
        return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
      },
    ],
    [
      'the public key as an HMAC secret',
      async () => {
        const secret = new TextEncoder().encode(await exportSPKI(keys.publicKey));
        return new SignJWT({ iss: projectId, aud: 'kith.dev', sub: 'f-1', iat: now(), exp: now() + 300 })
          .setProtectedHeader({ alg: 'HS256' })
          .sign(secret);
      },
    ],
    ['another issuer', () => sign({ iss: randomUUID() })],
    ['another audience', () => sign({ aud: 'example.org' })],
    ['an expiry that is over', () => sign({ iat: now() - 400, exp: now() - 60 })],
    ['a time of issue in the future', () => sign({ iat: now() + 90 })],
    ['no issuer', () => sign({ iss: undefined })],
    ['a list of issuers', () => sign({ iss: [projectId] as unknown as string })],
    ['no audience', () => sign({ aud: undefined })],
    ['no expiry', () => sign({ exp: undefined })],
    ['a lifetime of over an hour', () => sign({ iat: now() - 1, exp: now() + 3600 })],
    ['over an hour left, and no time of issue', () => sign({ iat: undefined, exp: now() + 3660 })],
    ['no subject', () => sign({ sub: undefined })],
    ['an empty subject', () => sign({ sub: '' })],
    ['a blank subject', () => sign({ sub: ' ' })],
    ['a subject that is too long', () => sign({ sub: 'x'.repeat(513) })],
  ])('refuses a token with %s', async (_, token) => {
    const { status, body } = await verify(await token());
    expect([status, body]).toEqual([403, invalid]);
  });

  test('finds an imported user by a foreign id of 512 characters with blanks around it', async () => {
    const given = ` ${'\u{1F600}'.repeat(512)} `;
    const body = { rows: [{ foreignId: given }] };
    const imported = await call(identity.bus, importUsers, { params: { projectId }, body });
    expect(imported.body).toEqual({ imported: 1, unchanged: 0, rejected: [] });
    const { user } = (await verify(await sign({ sub: given }))).body;
    const query = new URLSearchParams({ foreignId: given }).toString();
    const found = await call(identity.bus, getUserByForeignId, { projectId, query });
    expect([found.body.id, user.foreignId]).toEqual([user.id, given.trim()]);
    const again = await call(identity.bus, importUsers, { params: { projectId }, body });
    expect(again.body.imported).toBe(0);
  });

  test('accepts a token from a backend whose clock differs by some seconds', async () => {
    expect((await verify(await sign({ iat: now() + 20 }))).status).toBe(200);
    expect((await verify(await sign({ iat: now() - 300, exp: now() - 20 }))).status).toBe(200);
  });

  test('accepts a token without a time of issue if at most an hour is left until it expires', async () => {
    expect((await verify(await sign({ iat: undefined, exp: now() + 3500 }))).status).toBe(200);
  });

  test('accepts lifetimes of up to a day if the project allows them', async () => {
    const day = () => sign({ sub: 'f-day', exp: now() + 24 * 3600 });
    expect((await verify(await day())).body).toEqual(invalid);
    const set = (externalTokenMaxAge: unknown) =>
      call(identity.bus, updateProject, { params: { projectId }, body: { externalTokenMaxAge } });
    for (const wrong of [3599, 86_401, 7200.5, '7200', null]) {
      const { status, body } = await set(wrong);
      expect([status, body.code, body.field]).toEqual([400, 'project/invalid-body', 'externalTokenMaxAge']);
    }
    expect((await set(86_400)).body.externalTokenMaxAge).toBe(86_400);
    expect((await verify(await day())).status).toBe(200);
    await set(3600);
  });

  test('refuses a token that was issued before its user was erased', async () => {
    const before = await sign({ sub: 'f-erased', iat: now() - 60 });
    const undated = await sign({ sub: 'f-erased', iat: undefined });
    const session = (await verify(before)).body;
    const { user } = session;
    const own = { projectId, params: { userId: user.id }, caller: callerOfSession(session) };
    const erased = await call(identity.bus, deleteUser, own);
    expect(erased.status).toBe(204);
    for (const token of [before, undated]) expect((await verify(token)).body).toEqual(invalid);
    expect((await verify(await sign({ sub: 'f-else', iat: now() - 60 }))).status).toBe(200);
    // This token could have been issued before the erasure, by a backend whose clock is 29 s ahead. So it is refused.
    const ahead = await sign({ sub: 'f-erased', iat: now() + 29 });
    expect((await verify(ahead)).body).toEqual(invalid);
    // If the clock of this replica is 29 s ahead, too, a token that seems to be issued 58 s after the erasure could still have
    // been issued before it. So this token is refused, too.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 29_000 });
    expect((await verify(await sign({ sub: 'f-erased', iat: now() + 29 }))).body).toEqual(invalid);
    // A token that is issued more than a minute after the erasure is accepted.
    vi.setSystemTime(Date.now() + 33_000);
    const anew = await verify(await sign({ sub: 'f-erased' }));
    vi.useRealTimers();
    expect([anew.status, anew.body.user?.id === user.id]).toEqual([200, false]);
    // The old tokens are still refused: they were issued before the erasure.
    for (const token of [before, ahead]) expect((await verify(token)).body).toEqual(invalid);
    const marks = JSON.stringify((await dumpStore(identity.store)).erasedExternals);
    expect(marks).toContain(projectId);
    expect(marks).not.toContain('f-erased');
  });

  test('accepts a token that was issued before a deletion of its user that failed', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2 * 3600_000 });
    const entered = await verify(await sign({ sub: 'f-kept' })).finally(() => vi.useRealTimers());
    const own = {
      projectId,
      params: { userId: entered.body.user.id },
      caller: callerOfSession(entered.body),
    };
    vi.spyOn(Erasure.prototype, 'remove').mockRejectedValueOnce(new Error('The database is gone.'));
    expect((await call(identity.bus, deleteUser, own)).status).toBe(500);
    const { status, body } = await verify(await sign({ sub: 'f-kept', iat: now() - 60 }));
    expect([status, body.user?.id]).toEqual([200, entered.body.user.id]);
  });

  test('makes the checks in the documented order', async () => {
    const unknown = await verify('nonsense', randomUUID());
    expect([unknown.status, unknown.body]).toEqual([
      404,
      { error: 'No such project.', code: 'project/not-found' },
    ]);
    const keyless = await verify('nonsense', await makeProject(identity.bus));
    expect([keyless.status, keyless.body]).toEqual([
      403,
      { error: 'This project has no public key to verify user tokens with.', code: 'auth/missing-keys' },
    ]);
    const missing = await call(identity.bus, verifyExternalUser, { projectId: randomUUID(), body: {} });
    expect([missing.status, missing.body.code, missing.body.field]).toEqual([
      400,
      'auth/invalid-body',
      'userJwt',
    ]);
  });

  test('refuses a suspended user', async () => {
    const token = await sign({ sub: 'f-suspended' });
    const { body } = await verify(token);
    await call(identity.bus, suspendUser, { params: { projectId, userId: body.user.id } });
    const { status, body: refused } = await verify(token);
    expect([status, refused]).toEqual([403, { error: 'This account is suspended.', code: 'auth/suspended' }]);
  });

  test.each([
    ['is nested too deeply', 'f-deep', `${'{"a":'.repeat(2_000)}{}${'}'.repeat(2_000)}`],
    ['has a key __proto__', 'f-proto', '{"a":{"__proto__":1}}'],
  ])('leaves out a field that %s, as no request body may', async (_, sub, metadata) => {
    const claims = { iss: projectId, aud: 'kith.dev', sub, iat: now(), exp: now() + 300 };
    const text = JSON.stringify({ ...claims, userData: { name: 'Deep', metadata: 0 } });
    const payload = new TextEncoder().encode(text.replace('"metadata":0', `"metadata":${metadata}`));
    const token = await new CompactSign(payload)
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .sign(keys.privateKey);
    const { status, body } = await verify(token);
    expect([status, body.user?.name, body.user?.metadata]).toEqual([200, 'Deep', {}]);
  });

  test('sets the avatar to the address in the token, and removes the avatar file if the file has another address', async () => {
    const [sub, file, other] = ['f-avatar', 'https://files.example/a.png', 'https://app.example/b.png'];
    const { user } = (await verify(await sign({ sub, userData: { avatar: file } }))).body;
    const avatarFileId = randomUUID();
    const store = await openStore(identity.store);
    try {
      const before = await store.users.account(projectId, user.id);
      const after = changedUser(before as User, { avatarFileId });
      expect(await store.users.update(after, userEvent(userUpdated, after))).toBe('stored');
    } finally {
      await store.close();
    }
    const enter = async (userData: object) => (await verify(await sign({ sub, userData }))).body.user;
    expect(await enter({ name: 'Ada' })).toMatchObject({ avatar: file, avatarFileId });
    expect(await enter({ name: 'Ada L.', avatar: file })).toMatchObject({ avatar: file, avatarFileId });
    expect(await enter({ avatar: other })).toMatchObject({ avatar: other, avatarFileId: null });
    expect(await enter({})).toMatchObject({ avatar: other, avatarFileId: null });
  });

  test('leaves out a username that another user has, and stores the other fields', async () => {
    await signUpUser(identity.bus, projectId, { username: 'taken.name' });
    const userData = { username: 'TAKEN.name', name: 'First' };
    const made = await verify(await sign({ sub: 'f-taken', userData }));
    expect([made.status, made.body.user]).toMatchObject([200, { username: null, name: 'First' }]);
    const own = { username: 'own.name', name: 'Second' };
    expect((await verify(await sign({ sub: 'f-taken', userData: own }))).body.user).toMatchObject(own);
    const updated = await verify(await sign({ sub: 'f-taken', userData: { ...userData, name: 'Third' } }));
    expect([updated.status, updated.body.user]).toMatchObject([
      200,
      { id: made.body.user?.id, username: 'own.name', name: 'Third' },
    ]);
  });
});
