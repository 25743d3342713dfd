import { randomUUID } from 'node:crypto';
import { getUser, type OwnUser, signUp } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import type { TestIdentity } from '../support/identity.ts';
import { callerOf, makeProject, password, signUpUser } from '../support/people.ts';
import { dumpStore } from '../support/raw-store.ts';
import { expectInvalid } from '../support/refusals.ts';
import { startForSuite } from '../support/suite.ts';

describe.each(handlerEngines())('sign-up on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  const post = (body: unknown, to = projectId) => call(identity.bus, signUp, { projectId: to, body });

  startForSuite(engine, (started, project) => {
    [identity, projectId] = [started, project];
  });

  test('makes an account from only an e-mail address and a password', async () => {
    const { status, headers, body } = await post({ email: ' Ada@Example.ORG ', password });
    expect(status).toBe(201);
    expect(headers).toMatchObject({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    const { createdAt } = body.user;
    expect(body).toEqual({
      success: true,
      accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refreshToken: expect.stringMatching(/^[\w-]{68}$/),
      user: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        foreignId: null,
        projectId,
        role: 'visitor',
        name: null,
        username: null,
        avatar: null,
        bannerFileId: null,
        avatarFileId: null,
        bio: null,
        birthdate: null,
        location: null,
        metadata: {},
        reputation: 0,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        email: 'ada@example.org',
        isVerified: false,
        isActive: true,
        lastActive: createdAt,
        updatedAt: createdAt,
      },
    });
  });

  test('stores every profile field, and no other field', async () => {
    const profile = {
      username: 'Grace.H',
      name: 'Grace 🚢 Hopper',
      avatar: 'https://example.org/g.png',
      bio: 'b'.repeat(300),
      location: 'Αθήνα',
      birthdate: '1906-12-09',
      metadata: { 'a.b': { $inc: 1 }, list: [null, 'x', 2.5] },
    };
    const forced = {
      id: randomUUID(),
      role: 'admin',
      reputation: 99,
      isVerified: true,
      passwordHash: 'x',
      seq: 7,
    };
    const { body } = await post({ email: 'grace@example.org', password, ...profile, ...forced });
    const user: OwnUser = body.user;
    expect(user).toMatchObject({ ...profile, role: 'visitor', reputation: 0, isVerified: false });
    expect(user.id).not.toBe(forced.id);
    const params = { userId: user.id };
    const stored = await call(identity.bus, getUser, { projectId, params, caller: callerOf(user) });
    expect(stored.body).toEqual(user);
  });

  test('stores a session with the user agent and the IP address of the request', async () => {
    const body = { email: 'session@example.org', password };
    const { body: answer } = await call(identity.bus, signUp, {
      projectId,
      body,
      userAgent: 'A'.repeat(600),
    });
    const { sessions } = await dumpStore(identity.store);
    const session = sessions?.find(({ userId }) => userId === answer.user.id);
    expect(session).toMatchObject({ projectId, userAgent: 'A'.repeat(512), ip: '192.0.2.1' });
    const days = (Number(session?.expiresAt) - Number(session?.createdAt)) / 86_400_000;
    expect(days).toBe(30);
  });

  test('refuses an unknown project, but checks the body first', async () => {
    const body = { email: 'a@example.org', password };
    const answer = await post(body, randomUUID());
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({ error: 'No such project.', code: 'project/not-found' });
    for (const weak of ['short', 'password123']) {
      const refused = await post({ ...body, password: weak }, randomUUID());
      expect(refused.body.code).toBe('auth/weak-password');
    }
  });

  test('refuses a weak password, but checks for malformed fields first', async () => {
    const answer = await post({ email: 'a@example.org', password: ' 1234567 ' });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: 'password must have at least 8 characters.',
      code: 'auth/weak-password',
      field: 'password',
    });
    const several = await post({ password: '1234567', bio: 5 });
    expect(several.body).toMatchObject({ code: 'auth/invalid-body', field: 'email' });
    expect(several.body.errors).toEqual([
      { field: 'email', error: 'email is required.' },
      { field: 'bio', error: 'bio must be a string.' },
      { field: 'password', error: 'password must have at least 8 characters.' },
    ]);
  });

  test.each([
    ['email', {}],
    ['email', { email: 'nobody' }],
    ['password', { email: 'a@example.org' }],
    ['password', { email: 'a@example.org', password: 12345678 }],
    ['username', { email: 'a@example.org', password, username: 'a b' }],
    ['bio', { email: 'a@example.org', password, bio: 'b'.repeat(301) }],
    ['birthdate', { email: 'a@example.org', password, birthdate: 'yesterday' }],
    ['metadata', { email: 'a@example.org', password, metadata: [] }],
  ])('refuses a malformed %s', async (field, body) => {
    expectInvalid(await post(body), 'auth/invalid-body', field);
  });

  test('refuses a body that is no JSON object', async () => {
    for (const body of ['{', '[]']) {
      const answer = await post(body);
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({
        error: 'The body is not a JSON object.',
        code: 'request/invalid-json',
      });
    }
  });

  test('refuses a taken e-mail address first, then a taken username; upper and lower case do not matter', async () => {
    await signUpUser(identity.bus, projectId, { email: 'taken@example.org', username: 'Taken' });
    const email = await post({ email: 'TAKEN@example.org', password, username: 'taken' });
    expect(email.status).toBe(409);
    expect(email.body).toEqual({
      error: 'This e-mail address is taken.',
      code: 'DUPLICATE_EMAIL',
      field: 'email',
    });
    const username = await post({ email: 'free@example.org', password, username: 'tAKEN' });
    expect(username.status).toBe(409);
    expect(username.body).toEqual({
      error: 'This username is taken.',
      code: 'DUPLICATE_USERNAME',
      field: 'username',
    });
    const elsewhere = await makeProject(identity.bus);
    expect((await post({ email: 'taken@example.org', password, username: 'Taken' }, elsewhere)).status).toBe(
      201,
    );
  });
});
