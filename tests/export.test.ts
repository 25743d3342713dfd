import { type Collection, exportUser, type OutputOf, type Session } from '@kith/contracts';
import {
  handlerEngines,
  sharedPlatform,
  startPlatform,
  type TestPlatform,
  type TestUser,
  waitFor,
} from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from './support/http.ts';

type Document = OutputOf<typeof exportUser>;

const filename = (userId: string) => `attachment; filename="kith-export-${userId}.json"`;
const pathOf = (user: TestUser, id = user.id) => `/v7/${user.projectId}/users/${id}/export`;
const large = (index: number) => ({ index, text: 'ü'.repeat(4_000) });

describe.each(handlerEngines())('export (%s)', (engine) => {
  let platform: TestPlatform;
  let projectId: string;
  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    projectId = (await platform.createProject()).id;
  });
  afterAll(() => platform?.stop());

  const newUser = (name: string, profile: Record<string, unknown> = {}) =>
    platform.createUser(projectId, { name, ...profile });
  const call = <T>(by: TestUser, method: string, path: string, body?: unknown) =>
    platform.call<T>(method, `/v7/${projectId}${path}`, {
      token: by.accessToken,
      ...(body === undefined ? {} : { body }),
    });
  const download = (user: TestUser) => http(platform.url, { path: pathOf(user), token: user.accessToken });
  const read = async (user: TestUser) => (await download(user)).json() as Document;
  const request = (from: TestUser, to: TestUser, message: string) =>
    call<{ id: string; createdAt: string }>(from, 'POST', `/users/${to.id}/connection`, { message });
  const profileOf = (user: TestUser) => call<Record<string, unknown>>(user, 'GET', `/users/${user.id}`);
  /** A user's profile, as another user sees it. */
  const seen = (user: TestUser, by: TestUser) => call<unknown>(by, 'GET', `/users/${user.id}`);

  it('the export contains everything that a user has made, and requests and messages from others', async () => {
    const ada = await newUser('Ada', { username: 'ada', bio: 'Zoë’s "friend" }', metadata: { 'a.b': [1] } });
    const names = ['Grace', 'Alan', 'Kurt', 'Emmy', 'Paul', 'Rosa'];
    const others = await Promise.all(names.map((name) => newUser(name)));
    const [grace, alan, kurt, emmy, paul, rosa] = others as [
      TestUser,
      TestUser,
      TestUser,
      TestUser,
      TestUser,
      TestUser,
    ];
    const session = await platform.call<Session>('POST', `/v7/${projectId}/auth/sign-in`, {
      body: { email: ada.email, password: ada.password },
    });
    await platform.call('PATCH', `/admin/projects/${projectId}/users/${ada.id}`, {
      token: platform.operatorToken,
      body: { role: 'editor' },
    });
    const connectionId = await platform.connect(ada, grace, 'Hello 🦊');
    const sent = await request(ada, alan, 'May I?');
    const received = await request(kurt, ada, 'Ada?');
    const declinedByEmmy = await request(ada, emmy, 'Emmy?');
    await call(emmy, 'PATCH', `/connections/${declinedByEmmy.id}/decline`);
    const declinedByAda = await request(paul, ada, 'It is me');
    await call(ada, 'PATCH', `/connections/${declinedByAda.id}/decline`);
    await call(ada, 'POST', `/users/${rosa.id}/block`);
    // Ada's export does not contain what other users do with each other.
    await platform.connect(grace, alan, 'Not for Ada');

    const folder = await platform.createCollection(ada, 'Folder');
    const inner = await call<Collection>(ada, 'POST', `/collections/${folder.id}/sub-collections`, {
      collectionName: 'Inner',
    });
    await call(ada, 'POST', `/collections/${folder.id}/entities`, { entityId: 'book', metadata: { n: 1 } });
    await call(ada, 'POST', `/collections/${inner.id}/entities`, { entityId: 'book' });
    await call(
      await platform.createCollection(grace, 'Grace’s').then(() => grace),
      'GET',
      '/collections/root',
    );
    const root = await call<Collection>(ada, 'GET', '/collections/root');
    // Waits for three notifications: Grace's acceptance, and the requests of Kurt and Paul.
    const listed = () => call<{ data: unknown[] }>(ada, 'GET', '/app-notifications?limit=50');
    await waitFor(async () => (await listed()).data.length === 3, { what: 'Ada’s notifications' });

    const answer = await download(ada);
    expect([answer.status, answer.headers['content-type'], answer.headers['content-disposition']]).toEqual([
      200,
      'application/json',
      filename(ada.id),
    ]);
    expect(answer.headers['cache-control']).toBe('no-store');
    const document = answer.json() as Document;
    exportUser.output.parse(document);
    const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const ids = (rows: { id: string }[]) => rows.map(({ id }) => id).sort();
    expect(document.exportedAt).toEqual(iso);
    expect(document.user).toEqual(await profileOf(ada));
    expect(document.user.email).toBe(ada.email);
    expect(document.sessions).toHaveLength(2);
    expect(ids(document.sessions)).toEqual([sidOf(ada.accessToken), sidOf(session.accessToken)].sort());
    const audited = { at: iso, target: null, outcome: 'success', count: 1 };
    const own = { actor: `user:${ada.id}`, ip: expect.any(String), requestId: expect.any(String) };
    const byOperator = { actor: 'operator', target: `user:${ada.id}`, ip: null, requestId: null };
    expect(document.audit).toEqual([
      { ...audited, ...own, action: 'identity.export-user' },
      { ...audited, ...byOperator, action: 'identity.change-user' },
      { ...audited, ...own, action: 'identity.sign-in' },
      { ...audited, ...own, action: 'identity.sign-up' },
    ]);
    const view = (user: TestUser) => seen(user, ada);
    expect(document.connections).toEqual([
      {
        id: connectionId,
        connectedUser: await view(grace),
        connectedAt: iso,
        requestedAt: iso,
        message: 'Hello 🦊',
      },
    ]);
    const { createdAt } = sent;
    expect(document.sentRequests).toEqual([
      { id: sent.id, type: 'sent', user: await view(alan), message: 'May I?', createdAt },
    ]);
    expect(document.receivedRequests).toEqual([
      {
        id: received.id,
        type: 'received',
        user: await view(kurt),
        message: 'Ada?',
        createdAt: received.createdAt,
      },
    ]);
    expect(document.declinedRequests).toHaveLength(2);
    expect(document.declinedRequests).toEqual(
      expect.arrayContaining([
        {
          id: declinedByEmmy.id,
          type: 'sent',
          user: await view(emmy),
          message: 'Emmy?',
          createdAt: declinedByEmmy.createdAt,
          respondedAt: iso,
        },
        {
          id: declinedByAda.id,
          type: 'received',
          user: await view(paul),
          message: 'It is me',
          createdAt: declinedByAda.createdAt,
          respondedAt: iso,
        },
      ]),
    );
    expect(document.blocks).toEqual([{ id: expect.any(String), user: await view(rosa), createdAt: iso }]);
    expect(ids(document.collections)).toEqual(ids([root, folder, inner]));
    expect(document.collections).toContainEqual(root);
    expect(document.collections.find(({ id }) => id === inner.id)).toMatchObject({
      name: 'Inner',
      parentId: folder.id,
      entityCount: 1,
    });
    expect(document.savedEntities).toHaveLength(2);
    expect(document.savedEntities).toEqual(
      expect.arrayContaining([
        { id: 'book', addedAt: iso, metadata: { n: 1 }, collectionId: folder.id },
        { id: 'book', addedAt: iso, metadata: null, collectionId: inner.id },
      ]),
    );
    expect(document.notifications).toEqual((await listed()).data);

    const secrets = [ada.password, ada.accessToken, ada.refreshToken, session.refreshToken];
    for (const secret of [...secrets, ...others.map(({ email }) => email)]) {
      expect(answer.text).not.toContain(secret);
    }
    expect(answer.text).not.toMatch(/argon2|hash|sealed|epoch|"rev"|secret|Not for Ada|Grace’s/i);
    // Grace's export contains her own side of the same data, and nothing more.
    const of = await read(grace);
    expect(of.connections.map(({ connectedUser }) => connectedUser.id).sort()).toEqual(
      [ada.id, alan.id].sort(),
    );
    expect([of.sentRequests, of.receivedRequests, of.declinedRequests, of.blocks]).toEqual([[], [], [], []]);
    expect((await read(rosa)).blocks).toEqual([]);
  });

  it('the export of a user who has done nothing has every part, and every part is empty', async () => {
    const user = await newUser('New');
    const {
      exportedAt: _,
      user: own,
      recoveryCodesLeft,
      factors,
      sessions,
      audit,
      ...lists
    } = await read(user);
    expect([own.id, factors, recoveryCodesLeft]).toEqual([user.id, [], 0]);
    expect(sessions).toHaveLength(1);
    expect(audit.map(({ action }) => action)).toEqual(['identity.export-user', 'identity.sign-up']);
    expect(Object.values(lists)).toEqual(Object.values(lists).map(() => []));
    expect(Object.keys(lists)).toHaveLength(Object.keys(exportUser.parts.sections).length - 2);
  });

  it('the export is complete even if a part has more than one page', async () => {
    const user = await newUser('Large');
    const { id } = await platform.createCollection(user, 'Large');
    const count = 70;
    for (let index = 0; index < count; index++) {
      const body = { entityId: `entity ${index}`, metadata: large(index) };
      await call(user, 'POST', `/collections/${id}/entities`, body);
    }
    const { savedEntities } = await read(user);
    expect(savedEntities.map(({ metadata }) => metadata)).toEqual(
      Array.from({ length: count }, (_, index) => large(index)),
    );
  });

  it('HEAD gets the same headers without the document', async () => {
    const user = await newUser('Head');
    const answer = await http(platform.url, {
      method: 'HEAD',
      path: pathOf(user),
      token: user.accessToken,
    });
    expect([answer.status, answer.text, answer.headers['content-disposition']]).toEqual([
      200,
      '',
      filename(user.id),
    ]);
  });

  it('an export is refused in the same cases as a change of the user: no token, another user’s id, a malformed id, a deleted user', async () => {
    const [ada, grace] = [await newUser('Ada'), await newUser('Grace')];
    const stranger = await platform.createUser((await platform.createProject()).id);
    const ask = async (path: string, token?: string) => {
      const both = await Promise.all(
        (['GET', 'PATCH'] as const).map((method) =>
          http(platform.url, {
            method,
            path: method === 'GET' ? path : path.replace('/export', ''),
            ...(token ? { token } : {}),
            ...(method === 'PATCH' ? { body: {} } : {}),
          }),
        ),
      );
      const [answer, patch] = both.map(({ status, text }) => [status, JSON.parse(text)]);
      expect(answer).toEqual(patch);
      return answer;
    };
    const forbidden = [403, { error: 'This token does not allow that.', code: 'auth/forbidden' }];
    const notFound = [404, { error: 'No such user.', code: 'user/not-found' }];
    expect(await ask(pathOf(ada))).toMatchObject([401, { code: 'auth/unauthorized' }]);
    expect(await ask(pathOf(ada), 'nonsense')).toMatchObject([401, { code: 'auth/unauthorized' }]);
    expect(await ask(pathOf(ada), grace.accessToken)).toEqual(forbidden);
    expect(await ask(pathOf(ada), stranger.accessToken)).toEqual(forbidden);
    expect(await ask(pathOf(ada, 'me'), ada.accessToken)).toEqual(notFound);
    expect(await ask(pathOf(ada, '00000000-0000-4000-8000-000000000000'), ada.accessToken)).toEqual(
      forbidden,
    );
    expect((await download({ ...ada, id: ada.id.toUpperCase() })).status).toBe(200);
    await call(ada, 'DELETE', `/users/${ada.id}`);
    await waitFor(async () => (await download(ada)).status === 401);
    expect(await ask(pathOf(ada), ada.accessToken)).toMatchObject([401, { code: 'auth/unauthorized' }]);
  });
});

it('an export is limited to 5 in 5 minutes', async () => {
  await using limited = await startPlatform({ env: { RATE_LIMIT_SCALE: '1' } });
  const user = await limited.createUser();
  const ask = () => http(limited.url, { path: pathOf(user), token: user.accessToken });
  for (let left = 4; left >= 0; left--) {
    const { status, headers } = await ask();
    expect([status, headers['ratelimit-policy'], headers.ratelimit]).toEqual([
      200,
      '"identity.export-user";q=5;w=300',
      expect.stringMatching(`^"identity.export-user";r=${left};t=`),
    ]);
  }
  const refused = await ask();
  expect([refused.status, refused.json()]).toMatchObject([429, { code: 'rate-limit/exceeded' }]);
});

/** The id of the session that an access token belongs to. */
function sidOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sid;
}
