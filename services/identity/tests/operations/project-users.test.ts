import { randomUUID } from 'node:crypto';
import { listProjectUsers, type ProjectUser } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { startTestIdentity, type TestIdentity } from '../support/identity.ts';
import { newestFirst, walk } from '../support/listing.ts';
import { makeProject, signUpUser } from '../support/people.ts';
import { expectInvalid } from '../support/refusals.ts';

describe.each(handlerEngines())("the list of a project's users on %s", (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  const users: ProjectUser[] = [];
  const list = (query = '', of = projectId) =>
    call(identity.bus, listProjectUsers, { params: { projectId: of }, query });

  beforeAll(async () => {
    identity = await startTestIdentity(engine);
    projectId = await makeProject(identity.bus);
    for (let count = 0; count < 5; count++) {
      const fields = { username: `user.${count}`, name: count === 2 ? 'Ünal' : null };
      const { user } = await signUpUser(identity.bus, projectId, fields);
      users.push({ ...user, suspension: null });
    }
    await signUpUser(identity.bus, await makeProject(identity.bus));
    users.sort(newestFirst);
  });
  afterAll(() => identity[Symbol.asyncDispose]());

  test('contains each user with the e-mail address, newest first, in pages, and nothing secret', async () => {
    const all = await list();
    expect(all.status).toBe(200);
    expect(all.body).toEqual({
      data: users,
      pagination: { page: 1, pageSize: 20, totalPages: 1, totalItems: 5, hasMore: false },
    });
    expect(all.body.data[0].email).toMatch(/@example\.org$/);
    expect(all.text).not.toMatch(/password|argon2/i);
    const second = await list('page=2&limit=2');
    expect(second.body).toEqual({
      data: users.slice(2, 4),
      pagination: { page: 2, pageSize: 2, totalPages: 3, totalItems: 5, hasMore: true },
    });
    expect((await list('page=99999999999999999999')).body.data).toEqual([]);
  });

  test('is read by cursor without repetitions or gaps while users sign up', async () => {
    const walked = await walk(list, 'limit=2&query=USER.', () =>
      signUpUser(identity.bus, projectId, { username: 'user.late' }),
    );
    expect(walked).toEqual(users);
  });

  test('can be searched by a part of the username, name or e-mail address', async () => {
    const found = async (query: string) => (await list(`query=${encodeURIComponent(query)}`)).body.data;
    const named = users.filter(({ name }) => name === 'Ünal');
    expect(await found('unal')).toEqual(named);
    expect(await found('USER.3')).toEqual(users.filter(({ username }) => username === 'user.3'));
    expect(await found(users[0]?.email ?? '')).toEqual([users[0]]);
    expect(await found('nobody')).toEqual([]);
    expect(await found(' ')).toHaveLength(6);
  });

  test('binds a cursor to its project and its search', async () => {
    const { headers } = await list('limit=2&query=user');
    const cursor = /cursor=([^&>]+)/.exec(headers.Link ?? '')?.[1];
    expect((await list(`limit=2&query=user&cursor=${cursor}`)).status).toBe(200);
    const other = await makeProject(identity.bus);
    for (const answer of [
      await list(`limit=2&cursor=${cursor}`),
      await list(`query=user&cursor=${cursor}`, other),
      await list('cursor=abc'),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({
        error: 'cursor does not belong to this list. Start the list again without a cursor.',
        code: 'project/invalid-query',
        field: 'cursor',
      });
    }
  });

  test.each([
    ['page', 'page=0'],
    ['limit', 'limit=x'],
    ['query', `query=${'q'.repeat(101)}`],
  ])('refuses an invalid %s', async (field, query) => {
    expectInvalid(await list(query), 'project/invalid-query', field);
  });

  test('is refused as not found for an unknown or a malformed project id', async () => {
    for (const of of [randomUUID(), 'none']) {
      const { status, body } = await list('', of);
      expect(status).toBe(404);
      expect(body).toEqual({ error: 'No such project.', code: 'project/not-found' });
    }
  });
});
