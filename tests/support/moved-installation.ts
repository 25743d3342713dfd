import { createLogger, readConfig } from '@kith/base';
import {
  type Call,
  caller,
  type EmbeddedPlatform,
  openDataFolder,
  platformConfig,
  startEmbedded,
  storingNames,
} from '@kith/platform';
import { createPeople, type TestUser, waitFor } from '@kith/testing';
import { expect } from 'vitest';

export const operatorToken = 'the-operator';
/** The `KITH_SECRET` of the moved installation. */
export const movedSecret = 'the secret of an installation that is moved';

/** A pattern for everything that `kith move` prints until the move is done. It matches both a new move and a resumed move. */
export const moveProgress = new RegExp(
  [
    '^(waiting for pending work|resuming the move) …\n',
    '([a-z]+\\.[A-Za-z_]+: \\d+ rows\n)*',
    '(counts and checksums match\n)?',
    `([a-z]+\\.sqlite: marked as moved\n){${storingNames.length + 1}}`,
    `([a-z0-9_]+: marked as complete\n){${storingNames.length}}`,
    'the data is moved\n$',
  ].join(''),
);

/** What a filled installation contains. */
export interface World {
  projectId: string;
  users: TestUser[];
  collectionId: string;
  /** A project that was deleted. */
  deletedId: string;
}

/** The environment in which a platform starts, before and after its move. */
export const movedSettings = (data: string, prefix = 'kith'): NodeJS.ProcessEnv => ({
  NODE_ENV: 'test',
  LOG_LEVEL: 'error',
  PORT: '0',
  INTERNAL_PORT: '0',
  RATE_LIMIT_SCALE: '0',
  OPERATOR_TOKEN: operatorToken,
  KITH_SECRET: movedSecret,
  KITH_PREFIX: prefix,
  KITH_DATA: data,
});

/** Starts an embedded platform on a data folder. */
export function startInFolder(
  data: string,
  prefix?: string,
  settings: NodeJS.ProcessEnv = {},
): Promise<EmbeddedPlatform> {
  return startEmbedded({
    config: readConfig(platformConfig, { ...movedSettings(data, prefix), ...settings }),
    folder: openDataFolder(data),
    log: createLogger({ name: 'test', level: 'silent' }),
  });
}

/** Fills a new data folder with one user of one project. */
export async function makeSmall(data: string, profile?: Record<string, unknown>): Promise<TestUser> {
  await using platform = await startInFolder(data);
  const people = createPeople(caller(platform.url), operatorToken);
  return await people.createUser((await people.createProject()).id, profile);
}

/** Fills an installation with data of every kind, through its API. */
export async function makeBusy(call: Call): Promise<World> {
  const people = createPeople(call, operatorToken);
  const { id: projectId } = await people.createProject('Moved');
  await call('PATCH', `/admin/projects/${projectId}`, {
    token: operatorToken,
    body: {
      webOrigins: ['https://app.example.org'],
      limits: { 'identity.sign-in': { max: 9, windowSeconds: 60 } },
    },
  });
  const { id: deletedId } = await people.createProject('Deleted');
  await call('DELETE', `/admin/projects/${deletedId}`, { token: operatorToken });
  const users: TestUser[] = [];
  for (let index = 0; index < 8; index++) {
    users.push(
      await people.createUser(projectId, {
        name: `Üser ${index}`,
        username: `user.${index}`,
        metadata: { index },
      }),
    );
  }
  const [ada, grace, alan, edsger, barbara, troll, leaver, suspended] = users as [
    TestUser,
    TestUser,
    TestUser,
    TestUser,
    TestUser,
    TestUser,
    TestUser,
    TestUser,
  ];
  const as = (user: TestUser, method: string, path: string, body?: unknown) =>
    call<{ id: string }>(method, `/v7/${projectId}${path}`, {
      token: user.accessToken,
      ...(body ? { body } : {}),
    });
  for (const other of [grace, alan, edsger]) await people.connect(other, ada, 'Hello');
  await as(barbara, 'POST', `/users/${ada.id}/connection`, { message: 'Waiting' });
  await as(ada, 'POST', `/users/${edsger.id}/block`);
  const { id } = await as(grace, 'POST', `/users/${alan.id}/connection`);
  await as(alan, 'PATCH', `/connections/${id}/decline`);
  await as(ada, 'POST', `/users/${troll.id}/block`);
  await as(ada, 'PATCH', `/users/${ada.id}`, { bio: 'Moved on' });
  const books = await people.createCollection(ada, 'Books');
  const below = await as(ada, 'POST', `/collections/${books.id}/sub-collections`, {
    collectionName: 'Novels',
  });
  for (const entityId of ['one', 'two', 'three']) {
    await as(ada, 'POST', `/collections/${books.id}/entities`, { entityId, metadata: { entityId } });
  }
  await as(ada, 'POST', `/collections/${below.id}/entities`, { entityId: 'one' });
  await as(ada, 'DELETE', `/collections/${books.id}/entities/two`);
  await people.connect(leaver, ada);
  await as(leaver, 'DELETE', `/users/${leaver.id}`);
  users.splice(users.indexOf(leaver), 1);
  await call('POST', `/admin/projects/${projectId}/users/${suspended.id}/suspend`, { token: operatorToken });
  users.splice(users.indexOf(suspended), 1);
  const connected = async () =>
    ((await as(ada, 'GET', '/connections/count')) as unknown as { count: number }).count;
  await waitFor(async () => (await connected()) === 2, { what: 'the erasure of the user who left' });
  const told = async () => JSON.stringify(await as(ada, 'GET', '/app-notifications?limit=50'));
  await waitFor(async () => !(await told()).includes(leaver.id), {
    what: 'no notification that names the user who left',
  });
  const unread = () => as(ada, 'GET', '/app-notifications/count') as unknown as Promise<number>;
  await waitFor(async () => (await unread()) >= 4, { what: 'notifications' });
  await as(ada, 'PATCH', '/app-notifications/mark-all-as-read');
  return { projectId, users, collectionId: books.id, deletedId };
}

/** Everything that each user can read. */
export async function readAll(
  call: Call,
  { projectId, users, collectionId, deletedId }: World,
): Promise<unknown> {
  // Gateways refuse a deleted project before they look at the token.
  const deleted = call('GET', `/v7/${deletedId}/connections`);
  await expect(deleted).rejects.toMatchObject({ code: 'project/not-found' });
  const seen: Record<string, unknown> = {};
  const admin = (path: string) => call('GET', `/admin/projects${path}`, { token: operatorToken });
  seen.project = await admin(`/${projectId}`);
  seen.users = await admin(`/${projectId}/users?limit=100`);
  for (const user of users) {
    const own: Record<string, unknown> = {};
    const paths = [
      '/auth/sessions',
      '/connections',
      '/connections/count',
      '/connections?query=%C3%BCser',
      '/connections/pending/sent',
      '/connections/pending/received',
      '/blocks',
      '/collections/root',
      '/app-notifications?limit=50',
      '/app-notifications/count',
      '/users/suggestions?query=user',
      ...users.flatMap(({ id }) => [
        `/users/${id}`,
        `/users/${id}/connections`,
        `/users/${id}/connections-count`,
      ]),
      ...users.filter(({ id }) => id !== user.id).map(({ id }) => `/users/${id}/connection`),
    ];
    const token = user.accessToken;
    for (const path of paths) own[path] = await call('GET', `/v7/${projectId}${path}`, { token });
    const root = own['/collections/root'] as { id: string };
    own.children = await call('GET', `/v7/${projectId}/collections/${root.id}/sub-collections`, { token });
    seen[user.email] = own;
  }
  const ada = users[0]!.accessToken;
  for (const path of [
    `/collections/${collectionId}/entities`,
    `/collections/${collectionId}/sub-collections`,
  ])
    seen[path] = await call('GET', `/v7/${projectId}${path}`, { token: ada });
  seen.saved = await call('GET', `/v7/${projectId}/entities/is-entity-saved?entityId=one`, { token: ada });
  return seen;
}

/** Checks that everything still works after the move: tokens, changes of moved data, events and feeds. */
export async function goesOn(call: Call, { projectId, users, collectionId }: World): Promise<void> {
  const [ada, grace, alan, , barbara] = users as [TestUser, TestUser, TestUser, TestUser, TestUser];
  const as = <T>(user: TestUser, method: string, path: string, body?: unknown) =>
    call<T>(method, `/v7/${projectId}${path}`, { token: user.accessToken, ...(body ? { body } : {}) });
  const session = await call<{ accessToken: string }>(
    'POST',
    `/v7/${projectId}/auth/request-new-access-token`,
    {
      body: { refreshToken: grace.refreshToken },
    },
  );
  expect(session.accessToken).toMatch(/\./);
  const { email, password } = alan;
  await call('POST', `/v7/${projectId}/auth/sign-in`, { body: { email, password } });

  const requests = await as<{ requests: { id: string }[] }>(ada, 'GET', '/connections/pending/received');
  const [waiting] = requests.requests;
  await as(ada, 'PATCH', `/connections/${waiting!.id}/accept`);
  await as(ada, 'DELETE', `/users/${grace.id}/connection`);
  const counts = await Promise.all(
    [ada, grace, barbara].map((user) => as<{ count: number }>(user, 'GET', '/connections/count')),
  );
  expect(counts.map(({ count }) => count)).toEqual([2, 0, 1]);
  const { data } = await waitFor(
    async () => {
      const list = await as<{ data: { type: string; isRead: boolean }[] }>(
        barbara,
        'GET',
        '/app-notifications',
      );
      return list.data.length > 0 && list;
    },
    { what: 'the notification of the answer' },
  );
  expect(data[0]).toMatchObject({ type: 'connection-accepted', isRead: false });

  const added = await as<{ collection: { entityCount: number } }>(
    ada,
    'POST',
    `/collections/${collectionId}/entities`,
    {
      entityId: 'four',
    },
  );
  expect(added.collection.entityCount).toBe(3);
  await as(ada, 'PATCH', `/users/${ada.id}`, { name: 'Countess' });
  await waitFor(
    async () => {
      const list = await as<{ connections: { connectedUser: { name: string } }[] }>(
        barbara,
        'GET',
        '/connections',
      );
      return list.connections[0]?.connectedUser.name === 'Countess';
    },
    { what: 'the new name' },
  );
}
