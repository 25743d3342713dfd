import {
  type AppNotification,
  acceptConnection,
  countUserConnections,
  deleteConnection,
  getConnectionSettings,
  getConnectionStatus,
  getNotificationSettings,
  listConnections,
  listNotifications,
  listUserConnections,
  requestConnection,
  updateConnectionSettings,
  updateNotificationSettings,
} from '@kith/contracts';
import { type TestUser, waitFor } from '@kith/testing';
import { expect, it } from 'vitest';
import { refusesStrangers } from '../support/surface/guards.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

const by = ({ accessToken: token }: TestUser) => ({ token });

export const userSettings = surfaceSuite('user-settings', (world) => {
  const about = (from: TestUser, { id: userId }: TestUser) => ({ ...by(from), params: { userId } });
  const set = async (user: TestUser, body: object) =>
    (await world.ok(updateConnectionSettings, { ...by(user), body })).body;
  const people = (count: number) => Promise.all(Array.from({ length: count }, () => world.user()));

  it('every operation checks the token before all else', () =>
    refusesStrangers(world, features['user-settings'].operations));

  it('settings belong to the caller, begin with defaults, and keep values that a change does not send', async () => {
    const [ada, grace] = (await people(2)) as [TestUser, TestUser];
    const defaults = { requestsFrom: 'everyone', showsConnections: true };
    expect((await world.ok(getConnectionSettings, by(ada))).body).toEqual(defaults);
    expect(await set(ada, {})).toEqual(defaults);
    expect(await set(ada, { requestsFrom: 'nobody' })).toEqual({ ...defaults, requestsFrom: 'nobody' });
    const both = { requestsFrom: 'nobody', showsConnections: false };
    expect(await set(ada, { showsConnections: false, role: 'admin' })).toEqual(both);
    expect((await world.ok(getConnectionSettings, by(ada))).body).toEqual(both);
    expect((await world.ok(getConnectionSettings, by(grace))).body).toEqual(defaults);
    for (const [field, value] of [
      ['requestsFrom', 'friends'],
      ['requestsFrom', null],
      ['showsConnections', 'no'],
    ] as const) {
      const given = { ...by(ada), body: { [field]: value } };
      await world.refused(updateConnectionSettings, given, 'connection/invalid-body', { field });
    }
  });

  it('a user can refuse all requests; if a connection or a request exists already, the refusal says this instead', async () => {
    const [ada, grace, alan, lin] = (await people(4)) as [TestUser, TestUser, TestUser, TestUser];
    await world.platform.connect(ada, grace);
    await world.ok(requestConnection, about(alan, ada));
    await set(ada, { requestsFrom: 'nobody' });
    await world.refused(requestConnection, about(lin, ada), 'connection/not-allowed');
    await world.refused(requestConnection, about(grace, ada), 'connection/already-connected');
    await world.refused(requestConnection, about(alan, ada), 'connection/request-pending');
    const { body } = await world.ok(getConnectionStatus, about(lin, ada));
    expect(body).toEqual({ status: 'none' });
    // Ada may still send requests to anybody. She may also accept requests that she got before the change.
    await world.ok(requestConnection, about(ada, lin));
    const status = (await world.ok(getConnectionStatus, about(ada, alan))).body as { connectionId: string };
    const { connectionId } = status;
    await world.ok(acceptConnection, { ...by(ada), params: { connectionId } });
    await set(ada, { requestsFrom: 'everyone' });
    const other = await world.user();
    await world.ok(requestConnection, about(other, ada));
  });

  it('with `common`, users may send requests as long as they have a connection in common', async () => {
    const [ada, common, grace, alan] = (await people(4)) as [TestUser, TestUser, TestUser, TestUser];
    await set(ada, { requestsFrom: 'common' });
    await world.platform.connect(ada, common);
    await world.refused(requestConnection, about(grace, ada), 'connection/not-allowed');
    // A request alone does not count as a connection.
    await world.ok(requestConnection, about(grace, common));
    await world.refused(requestConnection, about(grace, ada), 'connection/not-allowed');
    const status = (await world.ok(getConnectionStatus, about(common, grace))).body;
    const { connectionId } = status as { connectionId: string };
    await world.ok(acceptConnection, { ...by(common), params: { connectionId } });
    // Alan gets connected with Grace. She is not connected with Ada, so Alan and Ada still have no connection in common.
    await world.platform.connect(alan, grace);
    await world.refused(requestConnection, about(alan, ada), 'connection/not-allowed');
    await world.ok(deleteConnection, { ...by(common), params: { connectionId } });
    await world.refused(requestConnection, about(grace, ada), 'connection/not-allowed');
    await world.platform.connect(common, grace);
    await world.ok(requestConnection, about(grace, ada));
  });

  it('a hidden list of connections is empty for others, and complete for its owner', async () => {
    const [ada, grace, alan] = (await people(3)) as [TestUser, TestUser, TestUser];
    await world.platform.connect(ada, grace);
    await set(ada, { showsConnections: false });
    const params = { userId: ada.id };
    for (const token of [undefined, alan.accessToken, grace.accessToken]) {
      const given = { params, ...(token ? { token } : {}) };
      for (const query of ['', `query=${grace.user.name ?? 'x'}`]) {
        const { body } = await world.ok(listUserConnections, { ...given, query });
        expect(body).toMatchObject({ connections: [], pagination: { totalCount: 0 } });
      }
      expect((await world.ok(countUserConnections, given)).body).toEqual({ count: 0 });
    }
    const own = { ...by(ada), params };
    expect((await world.ok(listUserConnections, own)).body.connections).toHaveLength(1);
    expect((await world.ok(countUserConnections, own)).body).toEqual({ count: 1 });
    expect((await world.ok(listConnections, by(ada))).body.connections).toHaveLength(1);
    // The setting does not change the lists of other users: Grace's list still shows Ada.
    const { body } = await world.ok(listUserConnections, { params: { userId: grace.id } });
    expect(body.connections.map(({ connectedUser }) => connectedUser.id)).toEqual([ada.id]);
    await set(ada, { showsConnections: true });
    expect((await world.ok(countUserConnections, { params })).body).toEqual({ count: 1 });
  });

  it('if a type of notifications is turned off, no notifications of this type are made', async () => {
    const [ada, grace, alan] = (await people(3)) as [TestUser, TestUser, TestUser];
    const all = { 'connection-request': true, 'connection-accepted': true };
    expect((await world.ok(getNotificationSettings, by(ada))).body).toEqual({ types: all });
    const turn = async (types: Record<string, boolean>) =>
      (await world.ok(updateNotificationSettings, { ...by(ada), body: { types } })).body.types;
    const off = { 'connection-request': false, 'my-own': false };
    expect(await turn({ ...off, other: true })).toEqual({ ...all, ...off });
    expect(await turn({})).toEqual({ ...all, ...off });
    expect(await turn({ 'my-own': true })).toEqual({ ...all, 'connection-request': false });
    const types = async () => {
      const { body } = await world.ok(listNotifications, by(ada));
      return (body as { data: AppNotification[] }).data.map(({ type }) => type);
    };
    // Events arrive in order. So when the acceptance has caused a notification, the earlier request can cause none any more.
    await world.platform.connect(grace, ada);
    await world.platform.connect(ada, alan);
    await waitFor(async () => (await types()).length > 0, { what: 'the notification of the acceptance' });
    expect(await types()).toEqual(['connection-accepted']);
    await turn({ 'connection-request': true });
    const other = await world.user();
    await world.ok(requestConnection, about(other, ada));
    await waitFor(async () => (await types()).length === 2, { what: 'the notification of a request' });
    expect(await types()).toEqual(['connection-request', 'connection-accepted']);
  });

  it('only valid types can be turned off, at most 100', async () => {
    const ada = await world.user();
    const update = (types: unknown) => ({ ...by(ada), body: { types } });
    const many = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`type-${from + at}`, false]));
    const code = 'app-notification/invalid-body';
    for (const types of [7, null, [], many(0, 101)]) {
      await world.refused(updateNotificationSettings, update(types), code, { field: 'types' });
    }
    for (const type of ['Upper', 'under_score']) {
      const field = `types.${type}`;
      await world.refused(updateNotificationSettings, update({ [type]: false }), code, { field });
    }
    await world.refused(updateNotificationSettings, update({ x: 'off' }), code, { field: 'types.x' });
    await world.ok(updateNotificationSettings, update(many(0, 100)));
    await world.refused(updateNotificationSettings, update({ more: false }), code, { field: 'types' });
    const { body } = await world.ok(updateNotificationSettings, update({ 'type-0': true, more: false }));
    expect(Object.values(body.types).filter((isOn) => !isOn)).toHaveLength(100);
  });
});
