import { randomUUID } from 'node:crypto';
import {
  checkUsername,
  getUser,
  getUserByForeignId,
  getUserByUsername,
  type OperationSpec,
  type OwnUser,
  publicUser,
  suggestUsers,
  updateProject,
  updateUser,
  userCreated,
} from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/index.ts';
import { userEvent } from '../../src/user-events.ts';
import { call } from '../support/call.ts';
import type { TestIdentity } from '../support/identity.ts';
import { callerOf, makeProject, signUpUser } from '../support/people.ts';
import { expectInvalid } from '../support/refusals.ts';
import { startForSuite } from '../support/suite.ts';
import { makeUser } from '../support/users.ts';

const notFound = { error: 'No such user.', code: 'user/not-found' };

describe.each(handlerEngines())('looking users up on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  const get = (
    spec: OperationSpec,
    query: Record<string, string>,
    given: { projectId?: string; caller?: OwnUser } = {},
  ) =>
    call(identity.bus, spec, {
      projectId: given.projectId ?? projectId,
      query: new URLSearchParams(query).toString(),
      ...(given.caller ? { caller: callerOf(given.caller) } : {}),
    });
  /** Adds a user with a foreign id, as the project's own backend would. */
  const addForeign = async (foreignId: string) => {
    const store = await openStore(identity.store);
    const user = makeUser({ projectId, foreignId });
    await store.users.add(user, userEvent(userCreated, user));
    await store.close();
    return user;
  };

  startForSuite(engine, (started, project) => {
    [identity, projectId] = [started, project];
  });

  test('by username ignores upper and lower case, and shows users their own full profiles', async () => {
    const { user } = await signUpUser(identity.bus, projectId, { username: 'Grace.H', name: 'Grace' });
    const own = await get(getUserByUsername, { username: 'gRACE.h' }, { caller: user });
    expect(own.status).toBe(200);
    expect(own.body).toEqual(user);
    const shown = await get(getUserByUsername, { username: 'Grace.H' });
    expect(shown.status).toBe(200);
    expect(shown.body).toEqual(publicUser.parse(user));
    expect(shown.body).not.toHaveProperty('email');
  });

  test('by foreign id needs exactly the same id', async () => {
    const user = await addForeign('crm/42 ü');
    const { status, body } = await get(getUserByForeignId, { foreignId: 'crm/42 ü' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: user.id, foreignId: 'crm/42 ü', name: user.name });
    expect(body).not.toHaveProperty('email');
    const caller = { ...body, email: null } as OwnUser;
    expect((await get(getUserByForeignId, { foreignId: 'crm/42 ü' }, { caller })).body.email).toBe(
      user.email,
    );
    expect((await get(getUserByForeignId, { foreignId: 'CRM/42 Ü' })).status).toBe(404);
  });

  test('finds no unknown user and no user of another project', async () => {
    await signUpUser(identity.bus, projectId, { username: 'here' });
    await addForeign('here');
    const elsewhere = await makeProject(identity.bus);
    const answers = [
      await get(getUserByUsername, { username: 'nobody.at.all' }),
      await get(getUserByUsername, { username: 'a b' }),
      await get(getUserByUsername, { username: 'here' }, { projectId: elsewhere }),
      await get(getUserByUsername, { username: 'here' }, { projectId: randomUUID() }),
      await get(getUserByForeignId, { foreignId: '' }),
      await get(getUserByForeignId, { foreignId: 'here' }, { projectId: elsewhere }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(404);
      expect(body).toEqual(notFound);
    }
    expect((await get(suggestUsers, { query: 'here' }, { projectId: elsewhere })).body).toEqual([]);
    const free = await get(checkUsername, { username: 'here' }, { projectId: elsewhere });
    expect(free.body).toEqual({ available: true });
  });

  test.each([
    [getUserByUsername, 'username', ''],
    [getUserByUsername, 'username', 'username=a&username=b'],
    [getUserByForeignId, 'foreignId', ''],
    [suggestUsers, 'query', ''],
    [suggestUsers, 'query', `query=${'q'.repeat(101)}`],
    [checkUsername, 'username', ''],
    [checkUsername, 'username', 'username=ab'],
    [checkUsername, 'username', 'username=J%C3%B6rg'],
    [checkUsername, 'username', `username=${'u'.repeat(31)}`],
  ] as const)('%o refuses an invalid %s: %j', async (spec, field, query) => {
    expectInvalid(await call(identity.bus, spec, { projectId, query }), 'user/invalid-query', field);
  });

  test('reports which usernames are free', async () => {
    const { user } = await signUpUser(identity.bus, projectId, { username: 'Taken.1' });
    const check = async (username: string) => {
      const { status, body } = await get(checkUsername, { username });
      expect(status).toBe(200);
      return body;
    };
    expect(await check('tAKEN.1')).toEqual({ available: false });
    expect(await check(' taken.2 ')).toEqual({ available: true });
    const change = { params: { userId: user.id }, caller: callerOf(user), body: { username: null } };
    await call(identity.bus, updateUser, { projectId, ...change });
    expect(await check('Taken.1')).toEqual({ available: true });
  });

  test('suggests at most 5 users by a part of a name in any script, without private data', async () => {
    const people = await makeProject(identity.bus);
    const add = (fields: object) => signUpUser(identity.bus, people, { ...fields });
    const { user } = await add({ username: 'strasse.7', name: null });
    await add({ name: 'Anna Straße' });
    await add({ name: 'İpek' });
    await add({ name: 'Фёдор' });
    const suggest = (query: string) => get(suggestUsers, { query }, { projectId: people });
    const answer = await suggest(' STRASSE ');
    expect(answer.status).toBe(200);
    expect(answer.body[0]).toEqual(publicUser.parse(user));
    expect(answer.body.map(({ name }: OwnUser) => name)).toEqual([null, 'Anna Straße']);
    for (const [query, name] of [
      ['ipe', 'İpek'],
      ['ФЕД', 'Фёдор'],
      ['pek', 'İpek'],
    ] as const) {
      expect((await suggest(query)).body).toMatchObject([{ name }]);
    }
    for (const query of [' ', '\u0301', 'nobody', '.*', 'example.org', '\0']) {
      const none = await suggest(query);
      expect(none.status).toBe(200);
      expect(none.body).toEqual([]);
    }
    for (let count = 0; count < 6; count++) await add({ name: `Many ${count}` });
    expect((await suggest('many')).body).toHaveLength(5);
  });

  test('shows strangers only cards, but whole profiles if the gateway allows it', async () => {
    const whole = { name: 'Whole One', location: 'London', birthdate: '1815-12-10', metadata: { note: 1 } };
    const { user } = await signUpUser(identity.bus, projectId, { ...whole, username: 'whole.one' });
    const card = { ...publicUser.parse(user), location: null, birthdate: null, metadata: {} };
    const reads = [
      [getUser, { params: { userId: user.id } }],
      [getUserByUsername, { query: 'username=whole.one' }],
      [suggestUsers, { query: 'query=whole' }],
    ] as const;
    for (const [spec, given] of reads) {
      const read = async (how: object) =>
        [(await call(identity.bus, spec, { projectId, ...given, ...how })).body].flat()[0];
      expect(await read({})).toEqual(card);
      expect(await read({ seesAll: true })).toEqual(publicUser.parse(user));
    }
  });

  test('hides profiles that are not public from strangers, even if the gateway does not know the setting', async () => {
    const closed = await makeProject(identity.bus);
    const { user } = await signUpUser(identity.bus, closed, { username: 'closed.one' });
    const set = (publicProfiles: string) =>
      call(identity.bus, updateProject, { params: { projectId: closed }, body: { publicProfiles } });
    await set('none');
    const params = { userId: user.id };
    const byId = (given: object) => call(identity.bus, getUser, { projectId: closed, params, ...given });
    const query = { username: 'closed.one' };
    for (const answer of [await byId({}), await get(getUserByUsername, query, { projectId: closed })]) {
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual(notFound);
    }
    expect((await get(suggestUsers, { query: 'closed' }, { projectId: closed })).body).toEqual([]);
    const { user: other } = await signUpUser(identity.bus, closed);
    expect((await byId({ caller: callerOf(other) })).status).toBe(200);
    const given = { projectId: closed, caller: other };
    expect((await get(getUserByUsername, query, given)).status).toBe(200);
    expect((await get(suggestUsers, { query: 'closed' }, given)).body).toHaveLength(1);
    expect((await get(checkUsername, query, { projectId: closed })).body).toEqual({ available: false });
    await set('card');
    expect((await byId({})).status).toBe(200);
  });
});
