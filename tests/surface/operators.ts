import { randomUUID } from 'node:crypto';
import {
  announcedAtOnce,
  announceErasures,
  blockUser,
  changeUser,
  deleteUser,
  type ErrorCode,
  endUserSessions,
  getUser,
  importUsers,
  listProjectUsers,
  listSessions,
  listUserSessions,
  type OperationSpec,
  operations,
  rebuildConnectionsProfiles,
  rebuildIdentityBlocks,
  rebuildNotificationsProfiles,
  requestNewAccessToken,
  restoreUser,
  setPassword,
  signIn,
  suspendUser,
} from '@kith/contracts';
import { type TestUser, waitFor } from '@kith/testing';
import { decodeJwt } from 'jose';
import { beforeAll, expect, it } from 'vitest';
import { operatorKey, refusesStrangers, refusesTwice, refusesUnknown } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

export const operators = surfaceSuite('operators', (world) => {
  let token: string;
  let ada: TestUser;
  let grace: TestUser;
  beforeAll(async () => {
    token = world.operatorToken;
    ada = await world.user({ name: 'Ada', username: 'ada.one' });
    grace = await world.user({ name: 'ÄRZTIN', username: 'grace.one' });
  });
  const about = ({ projectId, id: userId }: TestUser) => ({ token, params: { projectId, userId } });

  it('every operation checks the operator’s token before all else', () =>
    refusesStrangers(world, features.operators.operations));

  // This test leaves out uploads, because the suite `imports.ts` tests which fields the form of an upload may have.
  const taking = operations.filter(({ auth, upload }) => auth === 'operator' && !upload);
  it.each(taking.map((spec) => [spec.name, spec] as const))(
    '%s refuses fields and parameters that it does not know',
    (_, spec) => refusesUnknown(world, spec),
  );

  it('a project’s users are listed with all their fields, newest first, and can be searched', async () => {
    const given = { token, params: { projectId: world.projectId } };
    const { body } = await world.ok(listProjectUsers, given);
    expect(body.data).toEqual([grace, ada].map(({ user }) => ({ ...user, suspension: null })));
    const found = async (query: string) =>
      (await world.ok(listProjectUsers, { ...given, query })).body.data.map(({ id }) => id);
    expect(await found('query=ADA.ONE')).toEqual([ada.id]);
    expect(await found(`query=${encodeURIComponent('ärz')}`)).toEqual([grace.id]);
    expect(await found(`query=${ada.email.slice(0, 12)}`)).toEqual([ada.id]);
    for (const query of ['', 'query=one']) {
      await walksList(world, listProjectUsers, { ...given, query }, { rows: ({ data }) => data, max: 100 });
    }
    const tooLong = { ...given, query: `query=${'x'.repeat(101)}`, params: { projectId: 'nonsense' } };
    await world.refused(listProjectUsers, tooLong, 'project/invalid-query', { field: 'query' });
    await refusesTwice(world, listProjectUsers, given);
    for (const projectId of ['nonsense', randomUUID()]) {
      await world.refused(listProjectUsers, { token, params: { projectId } }, 'project/not-found');
    }
  });

  it('a user’s role, reputation and verification can be changed; fields that are not sent stay as they are', async () => {
    const user = await world.user();
    const change = async (body: object) => (await world.ok(changeUser, { ...about(user), body })).body;
    const changed = {
      ...{ ...user.user, suspension: null, role: 'moderator', reputation: -2.5 },
      updatedAt: expect.any(String),
    };
    const before = await change({ role: ' moderator ', reputation: -2.5 });
    expect(before).toEqual(changed);
    expect(await change({ isVerified: true })).toEqual({ ...changed, isVerified: true });
    expect(await change({ isVerified: false, reputation: 0 })).toEqual({
      ...changed,
      reputation: 0,
    });
    const own = await world.ok(getUser, { params: { userId: user.id }, token: user.accessToken });
    expect(await change({ role: 'moderator' })).toEqual({ ...own.body, suspension: null });
    const given = { token: user.accessToken, body: { refreshToken: user.refreshToken } };
    const { body } = await world.ok(requestNewAccessToken, given);
    expect(decodeJwt(body.accessToken ?? '')).toMatchObject({ role: 'moderator' });
  });

  it.each([
    ['role', ''],
    ['role', 'x'.repeat(65)],
    ['role', null],
    ['reputation', '1'],
    ['isVerified', 'yes'],
  ])('a change is refused for %s: %j, before the user is looked up', async (field, value) => {
    const params = { projectId: world.projectId, userId: randomUUID() };
    const body = { [field]: value };
    await world.refused(changeUser, { token, params, body }, 'user/invalid-body', { field });
  });

  it('a suspended user’s tokens are refused until the user is restored and signs in again', async () => {
    const user = await world.user();
    const given = { token: user.accessToken };
    const suspended = await world.ok(suspendUser, about(user));
    expect(suspended.body).toEqual({
      ...{ ...user.user, isActive: false, updatedAt: expect.any(String) },
      suspension: { at: expect.any(String), until: null, reason: null },
    });
    expect((await world.ok(suspendUser, about(user))).body).toEqual(suspended.body);
    await waitFor(() => world.refused(listSessions, given, 'auth/suspended'), { what: 'the suspension' });
    const restored = await world.ok(restoreUser, about(user));
    expect(restored.body).toEqual({ ...user.user, updatedAt: expect.any(String), suspension: null });
    expect((await world.ok(restoreUser, about(user))).body).toEqual(restored.body);
    await waitFor(() => world.refused(listSessions, given, 'auth/unauthorized'), { what: 'the end' });
    const { email, password } = user;
    const { body } = await world.ok(signIn, { body: { email, password } });
    await world.ok(listSessions, { token: body.accessToken });
  });

  it('a suspension can have a reason, and an end at which it stops by itself', async () => {
    const user = await world.user();
    const suspendFor = async (body: object) => (await world.ok(suspendUser, { ...about(user), body })).body;
    const first = await suspendFor({ reason: ' spam ', until: '2999-01-01T00:00:00+01:00' });
    const { suspension } = first;
    expect(suspension).toEqual({
      at: expect.any(String),
      until: '2998-12-31T23:00:00.000Z',
      reason: 'spam',
    });
    const { email, password } = user;
    const signingIn = () => world.ok(signIn, { body: { email, password } });
    await world.refused(signIn, { body: { email, password } }, 'auth/suspended');
    // The test also works on a busy machine, because only the next request has to arrive within these five seconds.
    const until = new Date(Date.now() + 5_000).toISOString();
    const shorter = await suspendFor({ until });
    expect(shorter.suspension).toEqual({ at: suspension!.at, until, reason: null });
    const { body } = await waitFor(() => signingIn().catch(() => false as const), { what: 'the end' });
    await world.ok(listSessions, { token: body.accessToken });
    const { data } = (await world.ok(listProjectUsers, { token, params: { projectId: world.projectId } }))
      .body;
    expect(data.find(({ id }) => id === user.id)).toMatchObject({ isActive: true, suspension: null });
  });

  it.each([
    ['reason', 7],
    ['reason', 'x'.repeat(1001)],
    ['until', 'tomorrow'],
    ['until', '2020-01-01T00:00:00.000Z'],
  ])('a suspension is refused for %s: %j, before the user is looked up', async (field, value) => {
    const params = { projectId: world.projectId, userId: randomUUID() };
    const given = { token, params, body: { [field]: value } };
    await world.refused(suspendUser, given, 'user/invalid-body', { field });
  });

  it('setting a password ends all earlier sessions of the user', async () => {
    const user = await world.user();
    const password = 'told by the operator';
    const set = await world.ok(setPassword, { ...about(user), body: { password } });
    expect(set.body).toEqual({ ...user.user, updatedAt: expect.any(String), suspension: null });
    await waitFor(() => world.refused(listSessions, { token: user.accessToken }, 'auth/unauthorized'));
    const old = { email: user.email, password: user.password };
    await world.refused(signIn, { body: old }, 'auth/invalid-credentials');
    await world.ok(signIn, { body: { email: user.email, password } });
    const nobody = { token, params: { projectId: world.projectId, userId: randomUUID() } };
    const refuse = (body: object, code: ErrorCode) =>
      world.refused(setPassword, { ...nobody, body }, code, { field: 'password' });
    await refuse({}, 'auth/invalid-body');
    await refuse({ password: 'x'.repeat(257) }, 'auth/invalid-body');
    await refuse({ password: '1234567 ' }, 'auth/weak-password');
    const params = { projectId: world.projectId, userId: randomUUID() };
    await world.ok(importUsers, { token, params, body: { rows: [{ id: params.userId, name: 'Without' }] } });
    await world.refused(setPassword, { token, params, body: { password } }, 'auth/not-password-user');
  });

  it('an operator can list and end a user’s sessions', async () => {
    const user = await world.user();
    const { email, password } = user;
    await world.ok(signIn, { body: { email, password } });
    const { body: own } = await world.ok(listSessions, { token: user.accessToken });
    const read = (query = '') => world.ok(listUserSessions, { ...about(user), query });
    expect((await read()).body).toEqual({
      data: own.data.map(({ current: _, ...session }) => session),
      pagination: own.pagination,
    });
    await walksList(world, listUserSessions, about(user), { rows: ({ data }) => data, max: 100 });
    await refusesTwice(world, listUserSessions, about(user));
    await world.ok(endUserSessions, about(user));
    await waitFor(() => world.refused(listSessions, { token: user.accessToken }, 'auth/unauthorized'));
    expect((await read()).body.data).toEqual([]);
    await world.ok(endUserSessions, about(user));
    await world.refused(
      requestNewAccessToken,
      { body: { refreshToken: user.refreshToken } },
      'auth/unauthorized',
    );
    await world.ok(signIn, { body: { email, password } });
  });

  it.each([
    ['set-password', setPassword],
    ['list-sessions', listUserSessions],
    ['end-sessions', endUserSessions],
    ['change', changeUser],
    ['suspend', suspendUser],
    ['restore', restoreUser],
  ] as [string, OperationSpec][])('%s finds only a user of the named project', async (_, spec) => {
    const { projectId } = world;
    const wrong = [
      { projectId, userId: 'nonsense' },
      { projectId: 'nonsense', userId: ada.id },
      { projectId, userId: randomUUID() },
      { projectId, userId: world.stranger.id },
    ];
    for (const params of wrong) {
      const body = { password: 'long enough' };
      await world.refused(
        spec,
        { token, params, ...(spec === setPassword ? { body } : {}) },
        'user/not-found',
      );
    }
    expect((await world.ok(getUser, { params: { userId: ada.id }, token: ada.accessToken })).body).toEqual(
      ada.user,
    );
  });

  it.each([
    ['profiles in connections', rebuildConnectionsProfiles],
    ['profiles in notifications', rebuildNotificationsProfiles],
    ['blocks in identity', rebuildIdentityBlocks],
  ] as const)('%s are copied again, from the given position on', async (_, spec) => {
    await world.ok(blockUser, { token: ada.accessToken, params: { userId: grace.id } });
    const { body } = await world.ok(spec, { token });
    expect(body).toEqual({ copied: expect.any(Number), next: null });
    expect(body.copied).toBeGreaterThan(0);
    const code = `${spec.feature}/invalid-body` as const;
    for (const after of [7, 'x'.repeat(301)]) {
      await world.refused(spec, { token, body: { after } }, code, { field: 'after' });
    }
    await world.refused(spec, { token, body: { projectId: 'nonsense' } }, code, { field: 'projectId' });
  });

  it('copying can be limited to one project, and an operator key that is limited to projects has to name one of them', async () => {
    const { projectId } = world;
    const key = await operatorKey(world, { scopes: ['projects:write'], projectIds: [projectId] });
    const message = 'This key is limited to some projects: name one of them as projectId.';
    for (const spec of [rebuildConnectionsProfiles, rebuildNotificationsProfiles, rebuildIdentityBlocks]) {
      for (const body of [{}, { projectId: world.stranger.projectId }])
        await world.refused(spec, { token: key, body }, 'auth/forbidden', { message });
    }
    const { pagination } = (await world.ok(listProjectUsers, { token, params: { projectId } })).body;
    const whole = { copied: pagination.totalItems, next: null };
    for (const spec of [rebuildConnectionsProfiles, rebuildNotificationsProfiles]) {
      expect((await world.ok(spec, { token: key, body: { projectId } })).body).toEqual(whole);
      // If the position `after` is in another project, the platform ignores the position and copies all profiles of the named
      // project.
      const elsewhere = { projectId, after: `${world.stranger.projectId}|${world.stranger.id}` };
      expect((await world.ok(spec, { token: key, body: elsewhere })).body).toEqual(whole);
      const end = { projectId, after: `${projectId}|~` };
      expect((await world.ok(spec, { token: key, body: end })).body).toEqual({ copied: 0, next: null });
    }
    await world.ok(blockUser, { token: grace.accessToken, params: { userId: ada.id } });
    const blocks = { token: key, body: { projectId } };
    expect((await world.ok(rebuildIdentityBlocks, blocks)).body).toEqual({
      copied: expect.any(Number),
      next: null,
    });
  });

  it('deletions are announced again, but not for users who exist; an import cannot use the ids of the announced users', async () => {
    const gone = await world.user();
    await world.ok(deleteUser, { token: gone.accessToken, params: { userId: gone.id } });
    const { projectId } = world;
    const announce = { token, params: { projectId } };
    const stranger = randomUUID();
    const userIds = [gone.id, gone.id.toUpperCase(), ada.id, stranger];
    for (let turn = 0; turn < 2; turn++) {
      const { body } = await world.ok(announceErasures, { ...announce, body: { userIds } });
      expect(body).toEqual({ announced: 2, existing: 1 });
    }
    const rows = [{ id: gone.id }, { id: stranger }];
    expect((await world.ok(importUsers, { ...announce, body: { rows } })).body).toEqual({
      imported: 0,
      unchanged: 0,
      rejected: [
        { row: 0, reason: 'deleted' },
        { row: 1, reason: 'deleted' },
      ],
    });
    const tooMany = Array.from({ length: announcedAtOnce + 1 }, () => gone.id);
    for (const wrong of [undefined, [], tooMany]) {
      const given = { ...announce, body: { userIds: wrong } };
      await world.refused(announceErasures, given, 'user/invalid-body', { field: 'userIds' });
    }
    const nowhere = { token, params: { projectId: 'nonsense' }, body: { userIds } };
    await world.refused(announceErasures, nowhere, 'project/not-found');
  });
});
