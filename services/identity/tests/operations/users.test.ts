import { randomUUID } from 'node:crypto';
import { getUser, type OwnUser, publicUser, updateUser, usersByIds } from '@kith/contracts';
import { ask, type Caller } from '@kith/service';
import { handlerEngines } from '@kith/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { call, callInternal } from '../support/call.ts';
import type { TestIdentity } from '../support/identity.ts';
import { callerOf, makeProject, signUpUser } from '../support/people.ts';
import { expectInvalid } from '../support/refusals.ts';
import { startForSuite } from '../support/suite.ts';

const notFound = { error: 'No such user.', code: 'user/not-found' };

describe.each(handlerEngines())('users on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  let user: OwnUser;
  const get = (userId: string, given: { caller?: Caller; projectId?: string } = {}) =>
    call(identity.bus, getUser, { projectId, params: { userId }, ...given });
  const patch = (body: unknown, given: { userId?: string; caller?: Caller } = {}) => {
    const { userId = user.id, caller = callerOf(user) } = given;
    return call(identity.bus, updateUser, { projectId, params: { userId }, caller, body });
  };

  startForSuite(engine, (started, project) => {
    [identity, projectId] = [started, project];
  });
  beforeEach(async () => {
    user = (await signUpUser(identity.bus, projectId, { name: 'Ada', bio: 'Bio' })).user;
  });

  test('see their own full profile, and the public profile of others', async () => {
    const other = (await signUpUser(identity.bus, projectId)).user;
    const own = await get(user.id.toUpperCase(), { caller: callerOf(user) });
    expect(own.status).toBe(200);
    expect(own.body).toEqual(user);
    for (const answer of [await get(user.id), await get(user.id, { caller: callerOf(other) })]) {
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(publicUser.parse(user));
      expect(answer.body).not.toHaveProperty('email');
    }
  });

  test('are not found in another project, or by an unknown or a malformed id', async () => {
    const elsewhere = await makeProject(identity.bus);
    const answers = [
      await get(user.id, { projectId: elsewhere }),
      await get(randomUUID()),
      await get('nobody'),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(404);
      expect(body).toEqual(notFound);
    }
  });

  test('change the given fields and keep the others', async () => {
    const change = { name: ' Ada L. ', username: `A.${user.id.slice(0, 8)}`, metadata: { 'a.b': { $x: 1 } } };
    const { status, body } = await patch(change);
    expect(status).toBe(200);
    expect(body).toEqual({ ...user, ...change, name: 'Ada L.', updatedAt: expect.any(String) });
    expect(Date.parse(body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(user.updatedAt));
    expect((await get(user.id, { caller: callerOf(user) })).body).toEqual(body);
    const emptied = await patch({ name: null, bio: '', username: null, metadata: null });
    const nothing = { name: null, bio: null, username: null, metadata: {} };
    expect(emptied.body).toEqual({ ...user, ...nothing, updatedAt: expect.any(String) });
    expect((await get(user.id, { caller: callerOf(user) })).body).toEqual(emptied.body);
  });

  test('can change only their profile', async () => {
    const forced = {
      id: randomUUID(),
      role: 'admin',
      reputation: 9,
      isVerified: true,
      email: 'x@example.org',
    };
    const unknown = { ...forced, projectId: randomUUID(), seq: 9, rev: 9 };
    const { status, body } = await patch({ ...unknown, name: user.name });
    expect([status, body]).toEqual([200, user]);
    const refused = await patch(unknown);
    expect([refused.status, refused.body]).toEqual([
      400,
      { error: expect.stringContaining('username, name, '), code: 'user/invalid-body', field: 'username' },
    ]);
    expect((await get(user.id, { caller: callerOf(user) })).body).toEqual(user);
  });

  test("may not change another user's profile, existing or not", async () => {
    const other = (await signUpUser(identity.bus, projectId)).user;
    for (const userId of [other.id, randomUUID()]) {
      const { status, body } = await patch({ name: 'Eve' }, { userId });
      expect(status).toBe(403);
      expect(body).toEqual({ error: 'This token does not allow that.', code: 'auth/forbidden' });
    }
    expect((await get(other.id)).body.name).toBeNull();
  });

  test('are not found for a change if the id is malformed or the user does not exist', async () => {
    const gone = { userId: randomUUID(), sessionId: randomUUID(), role: 'visitor' };
    const answers = [
      await patch({ name: 'x' }, { userId: 'nobody' }),
      await patch({ name: 'x' }, { userId: gone.userId, caller: gone }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(404);
      expect(body).toEqual(notFound);
    }
  });

  test('may not take a username that is taken', async () => {
    const username = `T.${user.id.slice(0, 8)}`;
    await signUpUser(identity.bus, projectId, { username });
    const { status, body } = await patch({ username: username.toUpperCase() });
    expect(status).toBe(409);
    expect(body).toEqual({
      error: 'This username is taken.',
      code: 'DUPLICATE_USERNAME',
      field: 'username',
    });
  });

  test.each([
    ['name', { name: 'n'.repeat(101) }],
    ['username', { username: 'ab' }],
    ['metadata', { metadata: { big: 'x'.repeat(8192) } }],
  ])('may not set a malformed %s', async (field, change) => {
    expectInvalid(await patch(change), 'user/invalid-body', field);
  });

  test('may not send a body that is no JSON object', async () => {
    const { status, body } = await patch('"name"');
    expect(status).toBe(400);
    expect(body).toEqual({ error: 'The body is not a JSON object.', code: 'request/invalid-json' });
  });

  test('are returned to other services by id, with their seq; unknown ids are left out', async () => {
    const other = (await signUpUser(identity.bus, projectId)).user;
    const stranger = (await signUpUser(identity.bus, await makeProject(identity.bus))).user;
    const changed = (await patch({ name: 'Ada L.' })).body;
    const userIds = [user.id, other.id, stranger.id, randomUUID()];
    const context = { requestId: 'test', deadline: Date.now() + 20_000 };
    const { users } = await ask(identity.bus, usersByIds, { projectId, userIds }, context);
    const found = Object.fromEntries(users.map((one) => [one.user.id, one]));
    expect(found).toEqual({
      [user.id]: { seq: 2, user: publicUser.parse(changed) },
      [other.id]: { seq: 1, user: publicUser.parse(other) },
    });
    expect(await callInternal(identity.bus, usersByIds, { projectId, userIds })).not.toContain('email');
    expect(await ask(identity.bus, usersByIds, { projectId, userIds: [] }, context)).toEqual({ users: [] });
  });
});
