import { createHash, randomUUID } from 'node:crypto';
import {
  type AuditRow,
  blockUser,
  changePassword,
  createImage,
  createOperator,
  createServerKey,
  deleteServerKey,
  deleteUser,
  exportUser,
  listAudit,
  requestNewAccessToken,
  setPassword,
  signIn,
  signOut,
  signUp,
  stepUp,
  suspendUser,
  updateConnectionSettings,
  updateProject,
} from '@kith/contracts';
import { waitFor } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { filePart, smallPng } from '../support/multipart.ts';
import { operatorKey, refusesStrangers, refusesTwice } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

export const audit = surfaceSuite('audit', (world) => {
  let token: string;
  beforeAll(() => {
    token = world.operatorToken;
  });

  const rows = async (query: Record<string, string>): Promise<AuditRow[]> => {
    const asked = new URLSearchParams({ projectId: world.projectId, limit: '100', ...query });
    return (await world.ok(listAudit, { token, query: String(asked) })).body.data;
  };
  const ofActor = (actor: string) => rows({ actor });
  const said = (some: readonly Pick<AuditRow, 'action' | 'outcome'>[]) =>
    some.map(({ action, outcome }) => `${action} ${outcome}`);

  it('the operation checks the token and its scope audit:read before all else', async () => {
    await refusesStrangers(world, features.audit.operations);
  });

  it('lists sign-ins, failed sign-ins and actions that end sessions, newest first, each with its outcome', async () => {
    const { id, email, password } = await world.user();
    const session = (await world.ok(signIn, { body: { email, password } })).body;
    const wrong = { body: { email, password: 'not this one, I think' } };
    for (let time = 0; time < 3; time++) await world.refused(signIn, wrong, 'auth/invalid-credentials');
    const newPassword = 'another battery staple';
    const own = { token: String(session.accessToken) };
    // The user has no second factor, so this step-up has no effect. But it is recorded like any other step-up.
    await world.ok(stepUp, { ...own, body: { password } });
    await world.ok(changePassword, { ...own, body: { password, newPassword } });
    for (let time = 0; time < 2; time++)
      await world.ok(signOut, { body: { refreshToken: String(session.refreshToken) } });

    const found = await ofActor(id);
    expect(said(found.filter(({ outcome }) => outcome === 'success'))).toEqual([
      'identity.sign-out success',
      'identity.change-password success',
      'identity.step-up success',
      'identity.sign-in success',
      'identity.sign-up success',
    ]);
    const failures = found.filter(({ outcome }) => outcome !== 'success');
    // Failures of the same minute share a row. If a new minute begins between two failures, there are two rows.
    expect(new Set(said(failures))).toEqual(new Set(['identity.sign-in auth/invalid-credentials']));
    expect(failures.reduce((sum, { count }) => sum + count, 0)).toBe(3);
    expect(failures.length).toBeLessThan(3);
    for (const row of found) {
      expect(row).toMatchObject({ actor: `user:${id}`, projectId: world.projectId });
      expect(row.ip).toMatch(/127\.0\.0\.1$|^::1$/);
    }
    expect(JSON.stringify(found)).not.toContain(email);
  });

  it('records exports of an account, and refused exports', async () => {
    const [ada, grace] = [await world.user(), await world.user()];
    const given = { token: ada.accessToken, params: { userId: ada.id } };
    const { body } = await world.ok(exportUser, given);
    await world.refused(exportUser, { ...given, params: { userId: grace.id } }, 'auth/forbidden');
    const own = { actor: `user:${ada.id}`, target: null, count: 1 };
    const found = await rows({ actor: ada.id, action: exportUser.name });
    // The time of a failure is the beginning of its minute, so the order of the two rows is not fixed.
    expect(found.toSorted((a, b) => b.outcome.localeCompare(a.outcome))).toMatchObject([
      { ...own, outcome: 'success' },
      { ...own, outcome: 'auth/forbidden' },
    ]);
    // The row of this export is stored before the export reads the audit log, so the export contains it.
    expect(said(body.audit)).toEqual(['identity.export-user success', 'identity.sign-up success']);
  });

  it('records failures of an unknown person under a keyed hash of the address, and records the reuse of a refresh token', async () => {
    const email = `nobody-${randomUUID()}@example.com`;
    const body = { email, password: 'not this one, I think' };
    await world.refused(signIn, { body }, 'auth/invalid-credentials');
    const [row] = (await rows({ action: signIn.name })).filter(({ actor }) => !actor.startsWith('user:'));
    expect(row).toMatchObject({ actor: expect.stringMatching(/^unknown:[\w-]{43}$/), count: 1 });
    const plain = createHash('sha256').update(email).digest('base64url');
    expect(JSON.stringify(row)).not.toContain(plain);

    const username = `taken.${randomUUID().slice(0, 8)}`;
    const owner = await world.user({ username });
    const signUpAs = (given: { email: string; username?: string }) => ({ body: { ...body, ...given } });
    const signUps = async (code: string) =>
      (await rows({ action: signUp.name })).filter(({ outcome }) => outcome === code);
    for (let time = 0; time < 3; time++)
      await world.refused(signUp, signUpAs({ email: owner.email }), 'DUPLICATE_EMAIL', { field: 'email' });
    const ofTaken = await signUps('DUPLICATE_EMAIL');
    expect(ofTaken.reduce((sum, { count }) => sum + count, 0)).toBe(3);
    expect(new Set(ofTaken.map(({ actor }) => actor))).toEqual(new Set([`user:${owner.id}`]));
    await world.refused(signUp, signUpAs({ email, username }), 'DUPLICATE_USERNAME', { field: 'username' });
    expect((await signUps('DUPLICATE_USERNAME')).map(({ actor }) => actor)).toEqual([row?.actor]);

    const user = await world.user();
    const refresh = (refreshToken: string) => ({ body: { refreshToken } });
    const second = (await world.ok(requestNewAccessToken, refresh(user.refreshToken))).body;
    await world.ok(requestNewAccessToken, refresh('refreshToken' in second ? second.refreshToken : ''));
    await world.refused(requestNewAccessToken, refresh(user.refreshToken), 'auth/token-reuse-detected');
    expect(said(await ofActor(user.id))).toEqual([
      'identity.request-new-access-token auth/token-reuse-detected',
      'identity.sign-up success',
    ]);
  });

  it('records changes by operators and server keys, each with its target', async () => {
    const [ada, grace] = [await world.user(), await world.user()];
    const params = { projectId: world.projectId, userId: ada.id };
    await world.ok(updateProject, { token, params, body: { name: 'Renamed' } });
    await world.ok(setPassword, { token, params, body: { password: 'told by telephone, once' } });
    const made = (await world.ok(createServerKey, { token, params, body: { name: 'Shop' } })).body;
    await world.ok(deleteServerKey, { token, params: { ...params, keyId: made.id } });
    const headers = { 'on-behalf-of': ada.id };
    const behalf = { token: world.serverKey, headers, params: { userId: grace.id } };
    await world.ok(blockUser, behalf);
    await world.ok(updateConnectionSettings, { ...behalf, body: { showsConnections: false } });
    const image = (value: Uint8Array) => ({ token: world.serverKey, headers, parts: [filePart(value)] });
    await world.refused(createImage, image(Buffer.from('no image')), 'storage/invalid-image');
    await world.ok(createImage, image(smallPng));
    const key = await operatorKey(world, { scopes: ['users:write'], projectIds: [world.projectId] });
    await world.ok(suspendUser, { token: key, params, body: {} });

    const own = `user:${ada.id}`;
    const asTold = ({ action, target }: AuditRow) => [action, target];
    expect((await ofActor('operator')).slice(0, 4).map(asTold)).toEqual([
      [deleteServerKey.name, `server-key:${made.id}`],
      [createServerKey.name, `server-key:${made.id}`],
      [setPassword.name, own],
      [updateProject.name, `project:${world.projectId}`],
    ]);
    const [suspended] = await rows({ action: suspendUser.name });
    expect(suspended).toMatchObject({
      actor: expect.stringMatching(/^operator-key:[0-9a-f-]{36}$/),
      target: own,
    });
    // Services other than identity publish the rows of these operations, so the rows arrive later.
    for (const spec of [blockUser, updateConnectionSettings, createImage]) {
      const told = async () => {
        const found = await rows({ action: spec.name });
        return found.length > 0 && found;
      };
      // The refused image has no row.
      expect(await waitFor(told, { what: `the row of ${spec.name}` })).toEqual([
        expect.objectContaining({
          actor: expect.stringMatching(/^server-key:/),
          target: own,
          outcome: 'success',
        }),
      ]);
    }
  });

  it('finds rows by project, actor, action and time', async () => {
    const before = new Date().toISOString();
    const user = await world.user();
    const { email, password } = user;
    for (let time = 0; time < 2; time++) await world.ok(signIn, { body: { email, password } });
    const after = new Date(Date.now() + 1).toISOString();
    const all = await ofActor(`user:${user.id}`);
    expect(all).toHaveLength(3);
    const [last, , first] = all as [AuditRow, AuditRow, AuditRow];
    expect(await rows({ actor: user.id, action: signIn.name })).toEqual(all.slice(0, 2));
    expect(await rows({ actor: user.id, from: last.at })).toContainEqual(last);
    expect(await rows({ actor: user.id, to: first.at })).toEqual([]);
    expect(await rows({ actor: user.id, from: '1969-12-31T23:59:59Z', to: '9999-12-31T23:59:59Z' })).toEqual(
      all,
    );
    const between = { from: before, to: after };
    expect(await rows({ action: signIn.name, ...between })).toEqual(all.slice(0, 2));
    expect(await rows({ actor: user.id, projectId: randomUUID() })).toEqual([]);
    const query = new URLSearchParams({ actor: user.id });
    await walksList(
      world,
      listAudit,
      { token, query: String(query) },
      { rows: ({ data }) => data, max: 100 },
    );
    const other = new URLSearchParams({ projectId: world.projectId, action: signIn.name, ...between });
    await walksList(
      world,
      listAudit,
      { token, query: String(other) },
      { rows: ({ data }) => data, max: 100 },
    );
    await refusesTwice(world, listAudit, { token });
  });

  it.each([
    ['projectId', 'x'],
    ['actor', 'a|b'],
    ['action', ' '],
    ['from', 'yesterday'],
    ['to', '2026-01-01'],
    ['cursor', 'x!'],
  ])('refuses %s=%s', async (field, value) => {
    const query = String(new URLSearchParams({ [field]: value }));
    await world.refused(listAudit, { token, query }, 'auth/invalid-query', { field });
  });

  it('an operator key that is limited to projects sees only the rows of these projects', async () => {
    const key = await operatorKey(world, { scopes: ['audit:read'], projectIds: [world.projectId] });
    const message = 'This key is limited to some projects: name one of them as projectId.';
    await world.refused(listAudit, { token: key }, 'auth/forbidden', { message });
    const elsewhere = `projectId=${world.stranger.projectId}`;
    await world.refused(listAudit, { token: key, query: elsewhere }, 'auth/forbidden', { message });
    const { data } = (await world.ok(listAudit, { token: key, query: `projectId=${world.projectId}` })).body;
    expect(new Set(data.map(({ projectId }) => projectId))).toEqual(new Set([world.projectId]));
    // Some rows concern no project. Only keys that see all projects may read these rows.
    const { data: made } = (await world.ok(listAudit, { token, query: `action=${createOperator.name}` }))
      .body;
    expect(made[0]).toMatchObject({ projectId: null, target: expect.stringMatching(/^operator-key:/) });
  });

  it('after the erasure of a user, rows no longer identify the user', async () => {
    const user = await world.user();
    const params = { userId: user.id };
    const marked = {
      token,
      params: { ...params, projectId: world.projectId },
      body: { password: randomUUID() },
    };
    await world.ok(setPassword, marked);
    const { email } = user;
    const session = (await world.ok(signIn, { body: { email, password: marked.body.password } })).body;
    await world.ok(signOut, { body: { refreshToken: String(session.refreshToken) } });
    const again = (await world.ok(signIn, { body: { email, password: marked.body.password } })).body;
    await world.ok(deleteUser, { token: String(again.accessToken), params });
    const isGone = async () => {
      const [first] = await ofActor(user.id);
      return first === undefined;
    };
    await waitFor(isGone, { timeoutMs: 25_000, what: 'the erasure of the rows' });
    const [deleted] = await rows({ action: deleteUser.name });
    expect(deleted?.actor).toMatch(/^erased:[\w-]{43}$/);
    expect(deleted?.ip).toMatch(/^[\w-]{43}$/);
    const [signedOut] = await rows({ action: signOut.name });
    expect(signedOut).toMatchObject({ actor: deleted?.actor, target: expect.stringMatching(/^erased:/) });
    const [set] = await rows({ action: setPassword.name });
    expect(set).toMatchObject({ actor: 'operator', target: deleted?.actor });
  });
});
