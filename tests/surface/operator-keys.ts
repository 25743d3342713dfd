import { randomUUID } from 'node:crypto';
import {
  createOperator,
  createProject,
  createServerKey,
  deleteOperator,
  type ErrorCode,
  getProject,
  listOperators,
  listProjects,
  operations,
  operatorScopes,
  rotateKeys,
  signIn,
} from '@kith/contracts';
import { waitFor } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { http } from '../support/http.ts';
import { operatorKey, refusesStrangers, refusesTwice } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { fieldsOf } from '../support/surface/outcomes.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

const operated = operations.filter(({ auth }) => auth === 'operator');

export const operatorKeys = surfaceSuite('operator-keys', (world) => {
  let token: string;
  beforeAll(() => {
    token = world.operatorToken;
  });
  const make = async (body: object) =>
    (await world.ok(createOperator, { token, body: { name: 'Support', scopes: ['users:read'], ...body } }))
      .body;
  const all = async () => (await world.ok(listOperators, { token, query: 'limit=100' })).body.data;

  it('every operation checks for OPERATOR_TOKEN before all else, and refuses every operator key', async () => {
    await refusesStrangers(world, features['operator-keys'].operations);
    const key = await operatorKey(world, { scopes: [...operatorScopes] });
    const message = 'Only OPERATOR_TOKEN may do this, not an operator key.';
    for (const spec of features['operator-keys'].operations) {
      const given = { token: key, params: { keyId: randomUUID() } };
      await world.refused(spec, given, 'auth/forbidden', { message });
    }
  });

  it('a key’s token is returned only when the key is made, and is not in the list', async () => {
    const made = await make({ name: ' Support ', scopes: ['users:read', 'users:write', 'users:read'] });
    expect(made).toEqual({
      id: expect.any(String),
      name: 'Support',
      scopes: ['users:read', 'users:write'],
      projectIds: null,
      expiresAt: null,
      token: expect.stringMatching(/^kith_op_[\w-]{43}$/),
    });
    const limited = await make({ projectIds: [world.projectId], expiresAt: '2999-01-01T00:00:00+01:00' });
    expect(limited).toMatchObject({
      projectIds: [world.projectId],
      expiresAt: '2998-12-31T23:00:00.000Z',
    });
    const { token: _, ...shown } = made;
    const { token: __, ...other } = limited;
    // Other tests have made keys with the name `A key`, and have used these keys. Such a use appears in `lastUsedAt` a moment
    // later.
    const isTold = async () => (await all()).every((one) => one.name !== 'A key' || one.lastUsedAt !== null);
    await waitFor(isTold, { what: 'the last use of every key' });
    const rest = { createdAt: expect.any(String), lastUsedAt: null };
    expect((await all()).slice(0, 2)).toEqual([
      { ...other, ...rest },
      { ...shown, ...rest },
    ]);
    await walksList(world, listOperators, { token }, { rows: ({ data }) => data, max: 100 });
    await refusesTwice(world, listOperators, { token });
  });

  it.each([
    ['name', ' '],
    ['name', 'x'.repeat(201)],
    ['scopes', []],
    ['scopes', 'users:read'],
    ['scopes', undefined],
    ['projectIds', []],
    ['projectIds', [randomUUID()]],
    ['expiresAt', 'tomorrow'],
    ['expiresAt', '2020-01-01T00:00:00.000Z'],
  ])('a key is refused for %s: %j', async (field, value) => {
    const body = { name: 'Support', scopes: ['users:read'], [field]: value };
    await world.refused(createOperator, { token, body }, 'auth/invalid-body', { field });
  });

  it('a key with an unknown scope is refused', async () => {
    const body = { name: 'Support', scopes: ['users:read', 'users:delete'] };
    await world.refused(createOperator, { token, body }, 'auth/invalid-body', { field: 'scopes.1' });
  });

  it('a key can call only the operations of its scopes', async () => {
    for (const scope of operatorScopes) {
      const key = await operatorKey(world, { scopes: [scope] });
      for (const spec of operated) {
        const path = spec.path.replaceAll(/:\w+/g, 'nonsense');
        const [method] = [spec.method].flat();
        const { status, text } = await http(world.platform.url, {
          method,
          path: `${path}?nonsense=1`,
          token: key,
          ...(method === 'GET' ? {} : { body: '{"cut short' }),
        });
        const isLet = ![401, 403].includes(status);
        expect([spec.name, scope, isLet, text]).toEqual([
          spec.name,
          scope,
          spec.operatorScope === scope,
          expect.any(String),
        ]);
      }
    }
  });

  it('a cursor is valid only for the operator token or key that got it', async () => {
    const { id: projectId } = await world.platform.createProject('Cursors');
    await world.platform.createUser(projectId);
    const { id: userId, email, password } = await world.platform.createUser(projectId);
    await world.ok(signIn, { projectId, body: { email, password } });
    const of: Record<string, string> = { projectId, userId };
    for (const name of ['one', 'two']) await world.ok(createServerKey, { token, params: of, body: { name } });
    const scopes = [...operatorScopes];
    const keys = [await operatorKey(world, { scopes }), await operatorKey(world, { scopes })];
    for (const spec of operated.filter(
      ({ query, operatorScope }) => operatorScope && 'cursor' in query.shape,
    )) {
      const params = Object.fromEntries(fieldsOf(spec.params).map((name) => [name, of[name] ?? '']));
      const bearers = [token, ...keys];
      for (const own of bearers) {
        const { headers } = await world.ok(spec, { token: own, params, query: 'limit=1' });
        const query = /^<\?([^>]+)>/.exec(headers.link ?? '')?.[1] ?? 'no next page';
        await world.ok(spec, { token: own, params, query });
        for (const other of bearers.filter((one) => one !== own)) {
          const given = { token: other, params, query };
          await world.refused(spec, given, `${spec.feature}/invalid-query` as ErrorCode, { field: 'cursor' });
        }
      }
    }
  });

  it('a key that is limited to projects can reach only these projects', async () => {
    const other = await world.platform.createProject('Other');
    const key = await operatorKey(world, { scopes: [...operatorScopes], projectIds: [world.projectId] });
    const { body } = await world.ok(listProjects, { token: key });
    expect(body.data.map(({ id }) => id)).toEqual([world.projectId]);
    expect(body.pagination.totalItems).toBe(1);
    for (const projectId of [world.projectId, world.projectId.toUpperCase()]) {
      await world.ok(getProject, { token: key, params: { projectId } });
    }
    const message = 'This operator key is for other projects.';
    const refused = { token: key, body: { name: 'Mine' } };
    for (const spec of operated.filter((one) => one.operatorScope && fieldsOf(one.params).length > 0)) {
      const ids = Object.fromEntries(fieldsOf(spec.params).map((name) => [name, randomUUID()]));
      const params = { ...ids, projectId: other.id };
      await world.refused(spec, { token: key, params }, 'auth/forbidden', { message });
    }
    for (const spec of [createProject, rotateKeys]) {
      await world.refused(spec, refused, 'auth/forbidden', { message });
    }
  });

  it('a removed key and an expired key stop working', async () => {
    const made = await make({ scopes: ['projects:read'] });
    const given = { token: made.token };
    await waitFor(() => world.ok(listProjects, given).catch(() => false as const), { what: 'the key' });
    const params = { keyId: made.id };
    await world.ok(deleteOperator, { token, params });
    await waitFor(() => world.refused(listProjects, given, 'auth/unauthorized'), {
      what: 'the removal of the key',
    });
    expect((await all()).map(({ id }) => id)).not.toContain(made.id);
    for (const keyId of [made.id, 'nonsense']) {
      await world.refused(deleteOperator, { token, params: { keyId } }, 'auth/key-not-found');
    }
    const expiresAt = new Date(Date.now() + 6_000).toISOString();
    // The gateway has to know the key before this time.
    const key = await operatorKey(world, { scopes: ['projects:read'], expiresAt });
    const message = 'The key has expired. Make another one.';
    await waitFor(() => world.refused(listProjects, { token: key }, 'auth/unauthorized', { message }), {
      what: 'the expiry of the key',
    });
  });

  it('the last use of a key is shown', async () => {
    const before = new Date().toISOString();
    const made = await make({ scopes: ['projects:read'] });
    await waitFor(() => world.ok(listProjects, { token: made.token }).catch(() => false as const));
    const used = async () => (await all()).find(({ id }) => id === made.id)?.lastUsedAt ?? null;
    const at = await waitFor(used, { what: 'the last use of the key' });
    expect(at >= before && at <= new Date().toISOString()).toBe(true);
  });
});
