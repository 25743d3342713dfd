import { randomUUID } from 'node:crypto';
import {
  changePassword,
  countNotifications,
  createNotifications,
  createServerKey,
  createSubCollection,
  deleteServerKey,
  deleteUser,
  exportUser,
  getConnectionStatus,
  getRootCollection,
  getUser,
  getUserByForeignId,
  getUserByUsername,
  importUsers,
  listConnections,
  listServerKeys,
  listSessions,
  operations,
  renameCollection,
  requestConnection,
  serverKeyMay,
  suggestUsers,
  suspendUser,
  updateUser,
} from '@kith/contracts';
import { codesOf } from '@kith/openapi';
import { type TestUser, waitFor } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { http } from '../support/http.ts';
import { refusesStrangers, refusesTwice } from '../support/surface/guards.ts';
import { walksList } from '../support/surface/lists.ts';
import { fieldsOf } from '../support/surface/outcomes.ts';
import { features } from '../support/surface/parts.ts';
import { makeServerKey, surfaceSuite } from '../support/surface/suite.ts';

const onBehalfOf = ({ id }: { id: string }) => ({ 'On-Behalf-Of': id });

export const serverKeys = surfaceSuite('server-keys', (world) => {
  let token: string;
  let key: string;
  let ada: TestUser;
  let grace: TestUser;
  beforeAll(async () => {
    token = world.operatorToken;
    key = world.serverKey;
    ada = await world.user({ name: 'Ada', username: 'ada.keys' });
    grace = await world.user();
  });
  const ofProject = () => ({ token, params: { projectId: world.projectId } });

  it('every operation checks the operator’s token before all else', () =>
    refusesStrangers(world, features['server-keys'].operations));

  it('a key is returned only when it is made, and is not in the list', async () => {
    const given = { ...ofProject(), body: { name: ' Shop ' } };
    const { body: made } = await world.ok(createServerKey, given);
    const key = expect.stringMatching(/^kith_sk_[\w-]{43}$/);
    expect(made).toEqual({ id: expect.any(String), name: 'Shop', key, createdAt: expect.any(String) });
    const list = async () => (await world.ok(listServerKeys, ofProject())).body.data;
    const isTold = async () => (await list()).every(({ name, lastUsedAt }) => name === 'Shop' || lastUsedAt);
    await waitFor(isTold, { what: 'the last use of the other key' });
    const data = await list();
    const { key: _, ...shown } = made;
    expect(data[0]).toEqual({ ...shown, lastUsedAt: null });
    await walksList(world, listServerKeys, ofProject(), { rows: (body) => body.data, max: 100 });
    await refusesTwice(world, listServerKeys, ofProject());
    await world.refused(createServerKey, { ...given, body: { name: ' ' } }, 'auth/invalid-body', {
      field: 'name',
    });
    for (const projectId of ['nonsense', randomUUID()]) {
      const nowhere = { token, params: { projectId } };
      await world.refused(listServerKeys, nowhere, 'project/not-found');
      await world.refused(createServerKey, { ...nowhere, body: { name: 'x' } }, 'project/not-found');
    }
  });

  it('a key’s last use is shown, and a removed key stops working', async () => {
    const own = await makeServerKey(world.platform, world.projectId);
    const [listed] = (await world.ok(listServerKeys, ofProject())).body.data;
    const params = { projectId: world.projectId, keyId: listed!.id };
    const isUsed = async () => (await world.ok(listServerKeys, ofProject())).body.data[0]?.lastUsedAt ?? null;
    await waitFor(isUsed, { what: 'the last use of the key' });
    const other = { token, params: { ...params, projectId: world.stranger.projectId } };
    await world.refused(deleteServerKey, other, 'auth/key-not-found');
    await world.ok(deleteServerKey, { token, params });
    const ask = { token: own, params: { userId: ada.id } };
    await waitFor(() => world.refused(updateUser, ask, 'auth/unauthorized'), {
      what: 'the removal of the key',
    });
    for (const keyId of [params.keyId, 'nonsense']) {
      await world.refused(deleteServerKey, { token, params: { ...params, keyId } }, 'auth/key-not-found');
    }
  });

  it('a key reads every user’s full profile, and changes profile, role and reputation', async () => {
    const user = await world.user({ name: 'Alan', username: 'alan.keys' });
    const asked = { token: key, params: { userId: user.id } };
    expect((await world.ok(getUser, asked)).body).toEqual(user.user);
    const byName = await world.ok(getUserByUsername, { token: key, query: 'username=alan.keys' });
    expect(byName.body).toEqual(user.user);
    const rows = [{ foreignId: 'keys-1', email: 'keys.1@example.com' }];
    await world.ok(importUsers, { ...ofProject(), body: { rows } });
    const { body: found } = await world.ok(getUserByForeignId, { token: key, query: 'foreignId=keys-1' });
    expect(found).toMatchObject({ email: 'keys.1@example.com' });
    const body = { bio: 'Logic', role: ' editor ', reputation: 7.5 };
    const changed = { ...user.user, bio: 'Logic', role: 'editor', reputation: 7.5 };
    const updatedAt = expect.any(String);
    expect((await world.ok(updateUser, { ...asked, body })).body).toEqual({ ...changed, updatedAt });
    const again = await world.ok(updateUser, { ...asked, body: { reputation: 8 } });
    expect(again.body).toMatchObject({ role: 'editor', reputation: 8, bio: 'Logic' });
    for (const [field, value] of Object.entries({ role: '', reputation: '1' })) {
      await world.refused(updateUser, { ...asked, body: { [field]: value } }, 'user/invalid-body', { field });
    }
    const nobody = { token: key, params: { userId: randomUUID() } };
    await world.refused(updateUser, { ...nobody, body }, 'user/not-found');
    await world.refused(getUser, nobody, 'user/not-found');
    const stranger = { token: key, params: { userId: world.stranger.id } };
    await world.refused(updateUser, { ...stranger, body }, 'user/not-found');
  });

  it('a user cannot change role and reputation, and neither can a key that acts for a user', async () => {
    const body = { bio: 'Mine', role: 'admin', reputation: 99 };
    const params = { userId: ada.id };
    const { role, reputation } = ada.user;
    for (const given of [{ token: ada.accessToken }, { token: key, headers: onBehalfOf(ada) }]) {
      const { body: after } = await world.ok(updateUser, { ...given, params, body });
      expect(after).toMatchObject({ bio: 'Mine', role, reputation });
    }
    const other = { token: key, headers: onBehalfOf(grace), params, body };
    await world.refused(updateUser, other, 'auth/forbidden');
  });

  it('a key can call users’ operations on behalf of a user', async () => {
    const headers = onBehalfOf(ada);
    const { body: root } = await world.ok(getRootCollection, { token: key, headers });
    expect(root.userId).toBe(ada.id);
    const params = { collectionId: root.id };
    const sub = { token: key, headers, params, body: { collectionName: 'Wishes' } };
    const { body: made } = await world.ok(createSubCollection, sub);
    const renamed = { token: ada.accessToken, params: { collectionId: made.id }, body: { name: 'Gifts' } };
    await world.ok(renameCollection, renamed);
    await world.ok(requestConnection, { token: key, headers, params: { userId: grace.id } });
    const status = { token: grace.accessToken, params: { userId: ada.id } };
    expect((await world.ok(getConnectionStatus, status)).body).toMatchObject({ status: 'pending' });
    const upper = { 'On-Behalf-Of': ada.id.toUpperCase() };
    expect((await world.ok(getRootCollection, { token: key, headers: upper })).body.id).toBe(root.id);
  });

  it('users’ operations refuse a key that names no user, or that may not act for the named user', async () => {
    const without = 'Name the user that the server key acts for in On-Behalf-Of.';
    await world.refused(listConnections, { token: key }, 'auth/forbidden', { message: without });
    const message = 'On-Behalf-Of must be the id of a user of this project who is not suspended.';
    const refused = async (id: string) =>
      world.refused(listConnections, { token: key, headers: { 'On-Behalf-Of': id } }, 'auth/forbidden', {
        message,
      });
    const gone = await world.user();
    await world.ok(deleteUser, { token: gone.accessToken, params: { userId: gone.id } });
    const suspended = await world.user();
    const params = { projectId: world.projectId, userId: suspended.id };
    await world.ok(suspendUser, { token, params });
    const ids = [world.stranger.id, gone.id, suspended.id, randomUUID(), 'nonsense', '', `${ada.id}, x`];
    for (const id of ids) await refused(id);
    const own = 'Only a server key may act for another user: leave On-Behalf-Of out.';
    for (const user of [ada, grace]) {
      const given = { token: ada.accessToken, headers: onBehalfOf(user) };
      await world.refused(listConnections, given, 'auth/forbidden', { message: own });
    }
  });

  it('a key is refused at addresses of another project, and at addresses without a project (short forms)', async () => {
    const foreign = await makeServerKey(world.platform, world.stranger.projectId);
    const message = 'This server key is for the addresses of its own project.';
    const headers = onBehalfOf(ada);
    const asked = { token: foreign, isForeignKey: true, headers, params: { userId: ada.id } };
    await world.refused(updateUser, asked, 'auth/forbidden', { message });
    await world.refused(createNotifications, asked, 'auth/forbidden', { message });
    const short = { token: key, headers, projectId: null };
    await world.refused(listConnections, short, 'auth/forbidden', { message });
    // For the next two operations a token is optional. They treat these keys like any other invalid token.
    expect((await world.ok(getUser, asked)).body).not.toHaveProperty('email');
    const { body } = await world.ok(suggestUsers, { token: key, query: 'query=ada.keys' });
    expect(body.map(({ id }) => id)).toEqual([ada.id]);
  });

  it('a key can never sign users in or out, delete them or export their data', async () => {
    const never = operations.filter((spec) => spec.auth === 'user' && serverKeyMay(spec) === 'never');
    expect(never).toEqual(expect.arrayContaining([changePassword, listSessions, deleteUser, exportUser]));
    for (const spec of never) {
      const params = Object.fromEntries(fieldsOf(spec.params).map((name) => [name, ada.id]));
      const given = { token: key, headers: onBehalfOf(ada), params };
      const message = 'A server key cannot do this for a user.';
      await world.refused(spec, given, 'auth/forbidden', { message });
      const { headers: _, ...alone } = given;
      await world.refused(spec, alone, 'auth/forbidden', { message });
    }
  });

  it('operations with an optional token refuse On-Behalf-Of from callers who may not send it, as the document says', async () => {
    const forbidden = expect.arrayContaining(['auth/forbidden']);
    for (const spec of operations.filter(({ auth }) => auth === 'optional')) {
      const params = Object.fromEntries(fieldsOf(spec.params).map((name) => [name, ada.id]));
      const own = { token: ada.accessToken, headers: onBehalfOf(grace), params };
      const message = 'Only a server key may act for another user: leave On-Behalf-Of out.';
      await world.refused(spec, own, 'auth/forbidden', { message });
      const ofKey = { token: key, headers: onBehalfOf(world.stranger), params };
      const foreign =
        serverKeyMay(spec) === 'never'
          ? 'A server key cannot do this for a user.'
          : 'On-Behalf-Of must be the id of a user of this project who is not suspended.';
      await world.refused(spec, ofKey, 'auth/forbidden', { message: foreign });
      expect([spec.name, codesOf(spec)]).toEqual([spec.name, forbidden]);
    }
  });

  it('CORS does not allow web pages to send On-Behalf-Of', async () => {
    const path = `/v7/${world.projectId}${countNotifications.path}`;
    const preflight = (asked: string) =>
      http(world.platform.url, {
        method: 'OPTIONS',
        path,
        headers: {
          origin: 'https://app.example.org',
          'access-control-request-method': 'GET',
          'access-control-request-headers': asked,
        },
      });
    const { headers } = await preflight('authorization,On-Behalf-Of');
    expect(headers['access-control-allow-headers']).toBe('authorization');
    const other = await preflight('authorization,content-type');
    expect(other.headers['access-control-allow-headers']).toBe('authorization,content-type');
  });
});
