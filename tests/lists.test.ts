import { randomUUID } from 'node:crypto';
import type { Collection } from '@kith/contracts';
import { handlerEngines, sharedPlatform, type TestPlatform, type TestUser } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectCounted } from './support/expect-counted.ts';
import { http } from './support/http.ts';

type List = Collection & { entityIds: string[]; entities: [] };

// Tests the /lists endpoints that v6 clients call, with the field names that these clients use (spec#existing-clients-lists).
describe.each(handlerEngines())('lists of v6 clients (%s)', (engine) => {
  let platform: TestPlatform;
  let ada: TestUser;
  let root: List;

  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    ada = await platform.createUser();
    root = (await send('GET', 'lists/root')).json() as List;
  });
  afterAll(() => platform?.stop());

  const send = (
    method: string,
    path: string,
    body?: unknown,
    more: { user?: TestUser; key?: string } = {},
  ) => {
    const { user = ada, key } = more;
    return http(platform.url, {
      method,
      path: `/api/v6/${user.projectId}/${path}`,
      token: user.accessToken,
      ...(body === undefined ? {} : { body }),
      ...(key ? { headers: { 'idempotency-key': key } } : {}),
    });
  };
  const make = async (listName: string, parent = root) =>
    (await send('POST', `lists/${parent.id}/sub-lists`, { listName })).json() as List;
  const collection = async (path: string) => (await send('GET', `collections/${path}`)).json();

  it('a list is a collection with the ids of its entities', async () => {
    expect(root).toEqual({ ...((await collection('root')) as Collection), entityIds: [], entities: [] });
    const made = await send('POST', `lists/${root.id}/sub-lists`, { listName: ' Reading ' });
    expect(made.status).toBe(201);
    const reading = made.json() as List;
    expect(reading).toMatchObject({ parentId: root.id, name: 'Reading', entityIds: [], entities: [] });

    const saved = (entityId: string) => send('PATCH', `lists/${reading.id}/add-entity`, { entityId });
    await saved('first');
    await saved('second');
    const again = await saved('first');
    expect([again.status, again.json()]).toEqual([
      200,
      expect.objectContaining({
        id: reading.id,
        name: 'Reading',
        entityIds: ['first', 'second'],
        entityCount: 2,
      }),
    ]);
    expect((await send('GET', 'lists/is-entity-saved?entityId=second')).text).toBe('true');
    expect((await send('GET', 'lists/is-entity-saved?entityId=third')).text).toBe('false');

    const renamed = await send('PATCH', `lists/${reading.id}`, { update: { name: 'Reading group' } });
    expect(renamed.json()).toMatchObject({
      name: 'Reading group',
      entityIds: ['first', 'second'],
      entities: [],
    });
    const empty = await make('Empty');
    const below = (await send('GET', `lists/${root.id}/sub-lists`)).json();
    expect(below).toEqual([renamed.json(), empty]);

    const left = await send('PATCH', `lists/${reading.id}/remove-entity`, { entityId: 'first' });
    expect([left.status, left.json()]).toEqual([
      200,
      expect.objectContaining({ name: 'Reading group', entityIds: ['second'], entityCount: 1 }),
    ]);
    expect(await collection(`${reading.id}/entities`)).toMatchObject({ data: [{ id: 'second' }] });

    const gone = await send('DELETE', `lists/${reading.id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await send('GET', `lists/${root.id}/sub-lists`)).json()).toEqual([empty]);
  });

  it('each list on a page has the ids of the 1,000 entities that were saved last', async () => {
    const user = await platform.createUser();
    const parent = await platform.createCollection(user, 'Many');
    const below = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const answer = await send(
          'POST',
          `lists/${parent.id}/sub-lists`,
          { listName: `List ${index}` },
          { user },
        );
        const { id } = answer.json() as List;
        await send('PATCH', `lists/${id}/add-entity`, { entityId: `entity ${index}` }, { user });
        return id;
      }),
    );
    const lists = (await send('GET', `lists/${parent.id}/sub-lists`, undefined, { user })).json() as List[];
    expect(new Set(lists.map(({ id }) => id))).toEqual(new Set(below));
    for (const { name, entityIds } of lists) expect(entityIds).toEqual([name.replace('List', 'entity')]);
    const some = await send('GET', `lists/${parent.id}/sub-lists?limit=2`, undefined, { user });
    expect(some.json()).toEqual(lists.slice(0, 2));
    expect(some.headers.link).toMatch(/^<\?limit=2&cursor=.+>; rel="next"$/);

    const hoarder = await platform.createUser();
    const rows = Array.from({ length: 1_001 }, (_, index) => ({
      userId: hoarder.id,
      entityId: `saved ${index}`,
      addedAt: new Date(Date.UTC(2026, 0, 1) + index).toISOString(),
    }));
    const path = `/admin/projects/${hoarder.projectId}/import/entities`;
    // On a busy machine, a request with more rows would not end within its deadline.
    for (let at = 0; at < rows.length; at += 200) {
      const body = { rows: rows.slice(at, at + 200) };
      await platform.call('POST', path, { token: platform.operatorToken, body });
    }
    const { entityCount, entityIds } = (
      await send('GET', 'lists/root', undefined, { user: hoarder })
    ).json() as List;
    expect([entityCount, entityIds]).toEqual([1_001, rows.slice(1).map(({ entityId }) => entityId)]);
  });

  it('requests are refused in the same cases as for collections, with the field names of the client', async () => {
    const grace = await platform.createUser();
    const reading = await make('Refused');
    const refused = async (...args: Parameters<typeof send>) => {
      const answer = await send(...args);
      const { code, field, error } = answer.json() as Record<string, string>;
      return [answer.status, code, ...(field ? [field, error] : [])];
    };
    const nowhere = `lists/${randomUUID()}`;
    const notFound = [404, 'collection/not-found'];
    const noName = [400, 'collection/invalid-name', 'listName'];
    expect(await refused('POST', `lists/${root.id}/sub-lists`, {})).toEqual([
      ...noName,
      'listName is required.',
    ]);
    expect(await refused('POST', `lists/${root.id}/sub-lists`, { listName: null })).toEqual([
      ...noName,
      'listName must be a string.',
    ]);
    expect(await refused('PATCH', `lists/${reading.id}`, { update: {} })).toEqual([
      ...[400, 'collection/invalid-name', 'name'],
      'name is required.',
    ]);
    expect(await refused('POST', `${nowhere}/sub-lists`, { listName: 'x' })).toEqual([
      ...[400, 'collection/invalid-parent'],
    ]);
    expect(await refused('PATCH', `lists/${reading.id}`, { update: { name: [[['deep']]] } })).toEqual([
      ...[400, 'collection/invalid-name', 'name'],
      expect.any(String),
    ]);
    for (const operation of ['add-entity', 'remove-entity']) {
      expect(await refused('PATCH', `lists/${reading.id}/${operation}`, {})).toEqual([
        ...[400, 'collection/invalid-body', 'entityId'],
        'entityId is required.',
      ]);
      expect(await refused('PATCH', `${nowhere}/${operation}`, { entityId: 'x' })).toEqual(notFound);
      expect(
        await refused('PATCH', `lists/${reading.id}/${operation}`, { entityId: 'x' }, { user: grace }),
      ).toEqual(notFound);
      expect(await refused('PATCH', `lists/${reading.id}/${operation}`, '[]')).toEqual([
        400,
        'request/invalid-json',
      ]);
    }
    expect(await refused('PATCH', `lists/${reading.id}/add-entity`, { entityId: '..' })).toEqual([
      ...[400, 'collection/invalid-body', 'entityId'],
      expect.stringContaining('".."'),
    ]);
    expect(await refused('PATCH', `lists/${root.id}`, { update: { name: 'x' } })).toEqual(notFound);
    expect(await refused('DELETE', `lists/${root.id}`)).toEqual(notFound);
    expect(await refused('GET', `${nowhere}/sub-lists`)).toEqual(notFound);
    expect(await refused('GET', 'lists/is-entity-saved')).toEqual([
      ...[400, 'collection/invalid-query', 'entityId'],
      'entityId is required.',
    ]);
    expect(await refused('GET', 'lists')).toEqual([404, 'route/not-found']);
    const wrong = await send('DELETE', `lists/${root.id}/sub-lists`);
    expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
    const nobody = await http(platform.url, { path: `/api/v6/${ada.projectId}/lists/root` });
    expect([nobody.status, nobody.json()]).toEqual([
      401,
      expect.objectContaining({ code: 'auth/unauthorized' }),
    ]);
  });

  it('the operations of lists share their limits with the operations of collections', async () => {
    await expectCounted(platform.internalUrls, async () => {
      const user = await platform.createUser((await platform.createProject()).id);
      const left = async (method: string, path: string, body?: unknown) => {
        const { headers } = await send(method, path, body, { user });
        return [headers['ratelimit-policy'], Number(headers['x-ratelimit-remaining'])];
      };
      const policy = '"collections.get-root";q=100000;w=300';
      expect(await left('GET', 'collections/root')).toEqual([policy, 99_999]);
      expect(await left('GET', 'lists/root')).toEqual([policy, 99_998]);
      expect(await left('GET', 'collections/root')).toEqual([policy, 99_997]);
      const { id } = (await send('GET', 'lists/root', undefined, { user })).json() as List;
      const adding = '"collections.add-entity";q=50000;w=300';
      expect(await left('PATCH', `lists/${id}/add-entity`, { entityId: 'x' })).toEqual([adding, 49_999]);
      expect(await left('POST', `collections/${id}/entities`, { entityId: 'x' })).toEqual([adding, 49_998]);
    });
  });

  it('a list is made once for an idempotency key (spec#existing-clients-list-key)', async () => {
    const key = randomUUID();
    const parent = await make('Of a key');
    const ask = () => send('POST', `lists/${parent.id}/sub-lists`, { listName: 'Once' }, { key });
    const first = await ask();
    const { id } = first.json() as List;
    await send('PATCH', `lists/${id}/add-entity`, { entityId: 'x' });
    const second = await ask();
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers['idempotency-replayed']).toBe('true');
    // The second answer repeats the first answer, except for `entityIds`: these are the ids that the list has now.
    expect(second.json()).toEqual({ ...(first.json() as List), entityIds: ['x'] });
    const below = (await send('GET', `lists/${parent.id}/sub-lists`)).json();
    expect(below).toEqual([expect.objectContaining({ id, entityIds: ['x'] })]);

    const rename = (name: string, more = {}) => send('PATCH', `lists/${id}`, { update: { name } }, more);
    const renamed = await rename('First name', { key: `rename-${id}` });
    await rename('Second name');
    await send('PATCH', `lists/${id}/add-entity`, { entityId: 'y' });
    const again = await rename('First name', { key: `rename-${id}` });
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
    expect(again.json()).toEqual({ ...(renamed.json() as List), entityIds: ['x', 'y'] });
    const [now] = (await send('GET', `lists/${parent.id}/sub-lists`)).json() as List[];
    expect(now).toMatchObject({ name: 'Second name', entityIds: ['x', 'y'] });
  });

  it('a repeated request with a key is answered even after the list was deleted (spec#existing-clients-list-key)', async () => {
    const { id } = await make('Of another key');
    const add = () => send('PATCH', `lists/${id}/add-entity`, { entityId: 'x' }, { key: `add-${id}` });
    const rename = () => send('PATCH', `lists/${id}`, { update: { name: 'New' } }, { key: `rename-${id}` });
    const firsts = [await add(), await rename()];
    expect(firsts.map(({ status }) => status)).toEqual([200, 200]);
    const first = firsts[1]?.json() as List;
    await send('DELETE', `lists/${id}`);

    const renamed = await rename();
    expect([renamed.status, renamed.headers['idempotency-replayed']]).toEqual([200, 'true']);
    expect(renamed.json()).toEqual({ ...first, entityIds: [] });
    const added = await add();
    expect([added.status, added.json()]).toEqual([
      404,
      expect.objectContaining({ code: 'collection/not-found' }),
    ]);
  });
});
