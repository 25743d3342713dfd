import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  type Call,
  caller,
  openDataFolder,
  platformConfig,
  startDistributed,
  startEmbedded,
} from '@kith/platform';
import { createLogger, readConfig } from '@kith/service';
import {
  availableEngines,
  createPeople,
  type Engines,
  eraseEngines,
  startEngines,
  type TestUser,
  uniquePrefix,
  waitFor,
} from '@kith/testing';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { moveData } from '../libs/cli/src/move/move.ts';
import { Source } from '../libs/cli/src/move/source.ts';
import { fingerprint } from '../libs/cli/src/move/state.ts';
import { Target } from '../libs/cli/src/move/target.ts';
import { kith } from './support/command.ts';
import { kithWordsIn } from './support/kith-words.ts';

const operatorToken = 'the-operator';

interface World {
  projectId: string;
  users: TestUser[];
  collectionId: string;
}

describe.runIf(availableEngines().includes('containers'))('kith move', () => {
  const prefix = uniquePrefix();
  let folder: string;
  let engines: Engines;
  const settings = (data: string): NodeJS.ProcessEnv => ({
    NODE_ENV: 'test',
    LOG_LEVEL: 'error',
    PORT: '0',
    INTERNAL_PORT: '0',
    RATE_LIMIT_SCALE: '0',
    OPERATOR_TOKEN: operatorToken,
    KITH_PREFIX: prefix,
    KITH_DATA: data,
  });
  const env = () => ({ MONGODB_URL: engines.mongodbUrl, KITH_PREFIX: prefix });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-move-'));
    engines = await startEngines();
  });
  afterAll(async () => {
    await eraseEngines(engines, prefix);
    await engines[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const embedded = (data: string) =>
    startEmbedded({
      config: readConfig(platformConfig, settings(data)),
      folder: openDataFolder(data),
      log: createLogger({ name: 'test', level: 'silent' }),
    });
  const distributed = () =>
    startDistributed({
      env: {
        PATH: process.env.PATH,
        ...settings(''),
        MONGODB_URL: engines.mongodbUrl,
        NATS_URL: engines.natsUrl,
        REDIS_URL: engines.redisUrl,
      },
      logFolder: join(folder, 'logs'),
    });

  it('goes on after it is killed, and the distributed form answers as the embedded one did', async () => {
    const data = join(folder, 'data');
    let world: World;
    let before: unknown;
    {
      await using platform = await embedded(data);
      const call = caller(platform.url);
      world = await makeBusy(call);
      before = await readAll(call, world);
      const refused = await kith(['move', '--from', data], env());
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/^kith: Another Kith process uses the data folder /m);
    }
    // As the guide says it. Killed with some tables copied and others not.
    const guide = await readFile(new URL('../docs/move.md', import.meta.url), 'utf8');
    const [words = []] = kithWordsIn({ text: guide });
    expect(words).toEqual(['move', '--from', '.kith']);
    const killed = await kith([...words.slice(0, 2), data], env(), 'connections.pairs');
    expect(killed.code).toBe(null);
    const again = await kith(['move', '--from', data, '--json'], env());
    expect(again.stderr).toContain('going on with what was begun');
    expect(again.stderr).not.toContain('identity.users');
    expect([again.code, again.stderr]).toEqual([0, again.stderr]);
    const counts = JSON.parse(again.stdout) as { service: string; collection: string; documents: number }[];
    const of = (service: string, collection: string) =>
      counts.find((one) => one.service === service && one.collection === collection)?.documents;
    // With the one who is suspended, and the mark of the one who has left.
    expect(of('identity', 'users')).toBe(world.users.length + 2);
    expect(of('identity', 'keys')).toBe(1);

    await using platform = await distributed();
    const call = caller(platform.url);
    expect(await readAll(call, world)).toEqual(before);
    await goesOn(call, world);

    const twice = await kith(['move', '--from', data], env());
    expect(twice.code).toBe(1);
    expect(twice.stderr).toMatch(/was moved to \S+_identity already/);
  }, 120_000);

  it('copies anew what has changed between two tries', async () => {
    const data = join(folder, 'changed');
    const own = { ...env(), KITH_PREFIX: `${prefix}c` };
    let user: TestUser;
    {
      await using platform = await embedded(data);
      const people = createPeople(caller(platform.url), operatorToken);
      user = await people.createUser((await people.createProject()).id, { name: 'Before' });
    }
    const killed = await kith(['move', '--from', data], own, 'connections.pairs');
    expect(killed.code).toBe(null);
    {
      await using platform = await embedded(data);
      await caller(platform.url)('PATCH', `/v7/${user.projectId}/users/${user.id}`, {
        token: user.accessToken,
        body: { name: 'After' },
      });
    }
    const again = await kith(['move', '--from', data], own);
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('identity.users: 1 rows')]);
    await using client = new MongoClient(engines.mongodbUrl);
    const stored = await client.db(`${prefix}c_identity`).collection('users').find().toArray();
    expect(stored.map(({ name }) => name)).toEqual(['After']);
    await eraseEngines(engines, `${prefix}c`);
  }, 60_000);

  it('is ended by the next try, wherever it died once both places held the same', async () => {
    const data = join(folder, 'handed');
    const own = `${prefix}h`;
    {
      await using platform = await embedded(data);
      const people = createPeople(caller(platform.url), operatorToken);
      await people.createUser((await people.createProject()).id);
    }
    const moved = async (progress: (line: string) => void) => {
      await using target = await Target.open({ url: engines.mongodbUrl, prefix: own });
      const folder = openDataFolder(data);
      try {
        return await moveData({ folder, source: new Source(folder), target, prefix: own }, progress);
      } finally {
        folder.release();
      }
    };
    /** Dies after the step so many lines before the end; gives what was told until then. */
    const diesAfter = async (step: string): Promise<string[]> => {
      const lines: string[] = [];
      const dead = moved((line) => {
        lines.push(line);
        if (line === step) throw new Error('killed');
      });
      await expect(dead).rejects.toThrow('killed');
      return lines;
    };
    await diesAfter('both places hold the same');
    // Each try dies one step later than the one before, and does again what those have done.
    const files = ['events', 'identity', 'connections', 'collections', 'notifications'];
    const steps = [
      ...files.map((name) => `${name}.sqlite: marked as moved`),
      ...files.slice(1).map((name) => `${own}_${name}: marked as whole`),
    ];
    for (const [index, step] of steps.entries()) {
      expect(await diesAfter(step)).toEqual(steps.slice(0, index + 1));
      await expect(embedded(data)).rejects.toThrow('was moved to the distributed form');
    }
    await diesAfter('the data is moved');
    const again = await kith(['move', '--from', data], { ...env(), KITH_PREFIX: own });
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining(`moved to ${own}_identity already`),
    ]);
    // A state that was not written any more: the move tells what it has done.
    const state = JSON.parse(await readFile(join(data, 'move.json'), 'utf8'));
    await writeFile(join(data, 'move.json'), JSON.stringify({ ...state, isFinished: false }));
    const ended = await kith(['move', '--from', data, '--json'], { ...env(), KITH_PREFIX: own });
    expect([ended.code, ended.stderr]).toEqual([0, ended.stderr]);
    expect(JSON.parse(ended.stdout)).toContainEqual({
      service: 'identity',
      collection: 'users',
      documents: 1,
    });
    // Never to databases that it has not filled.
    const elsewhere = await kith(['move', '--from', data], { ...env(), KITH_PREFIX: `${own}x` });
    expect(elsewhere.stderr).toContain(`The data was moved to the prefix ${own}.`);
    await eraseEngines(engines, own);
    const gone = await kith(['move', '--from', data], { ...env(), KITH_PREFIX: own });
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('The data was copied to another')]);
  }, 120_000);

  it('leaves a folder that no embedded platform starts on, also of a version before', async () => {
    const data = join(folder, 'left');
    await (await embedded(data)).stop();
    const moved = await kith(['move', '--from', data], { ...env(), KITH_PREFIX: `${prefix}l` });
    expect([moved.code, moved.stderr]).toEqual([0, moved.stderr]);
    const refused = `The data in ${data} was moved to the distributed form`;
    await expect(embedded(data)).rejects.toThrow(refused);
    const letters = await kith(['dead-letters', 'list', 'any'], { KITH_DATA: data });
    expect([letters.code, letters.stderr]).toEqual([1, expect.stringContaining(refused)]);
    // What versions go by that know no mark: a schema above their own.
    for (const name of ['events', 'identity', 'connections', 'collections', 'notifications']) {
      using db = new DatabaseSync(join(data, `${name}.sqlite`), { readOnly: true });
      expect(db.prepare('PRAGMA user_version').get()?.user_version, name).toBeGreaterThan(1_000_000);
    }
    await eraseEngines(engines, `${prefix}l`);
  }, 60_000);

  it('copies anew what another version has begun', async () => {
    const data = join(folder, 'version');
    const own = { ...env(), KITH_PREFIX: `${prefix}v` };
    {
      await using platform = await embedded(data);
      const people = createPeople(caller(platform.url), operatorToken);
      await people.createUser((await people.createProject()).id);
    }
    const killed = await kith(['move', '--from', data], own, 'connections.pairs');
    expect(killed.code).toBe(null);
    const file = join(data, 'move.json');
    const state = JSON.parse(await readFile(file, 'utf8'));
    // As a version before left it, whose schema was older.
    {
      using db = new DatabaseSync(join(data, 'events.sqlite'));
      db.exec('ALTER TABLE events DROP COLUMN traceparent; PRAGMA user_version = 2');
    }
    const kept = openDataFolder(data);
    kept.write('move.json', JSON.stringify({ ...state, version: '0.0.1', files: fingerprint(kept) }));
    kept.release();
    const again = await kith(['move', '--from', data], own);
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('identity.users: 1 rows')]);
    using db = new DatabaseSync(join(data, 'events.sqlite'), { readOnly: true });
    expect(db.prepare('SELECT traceparent FROM events LIMIT 1').get()).toBeDefined();
    await eraseEngines(engines, `${prefix}v`);
  }, 60_000);

  it('names a consumer that no service has any more, at once, and goes without it where told', async () => {
    const data = join(folder, 'retired');
    const own = { ...env(), KITH_PREFIX: `${prefix}r` };
    {
      await using platform = await embedded(data);
      const people = createPeople(caller(platform.url), operatorToken);
      await people.createUser((await people.createProject()).id);
    }
    {
      using log = new DatabaseSync(join(data, 'events.sqlite'));
      log.prepare('INSERT INTO consumers (durable, position) VALUES (?, 0)').run('statistics-retired');
    }
    const refused = await kith(['move', '--from', data], own);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('The consumer statistics-retired, which no service of this version has'),
    ]);
    const moved = await kith(['move', '--from', data, '--without', 'statistics-retired'], own);
    expect([moved.code, moved.stderr]).toEqual([0, moved.stderr]);
    await eraseEngines(engines, `${prefix}r`);
  }, 60_000);

  it('has an event that was given up published once more', async () => {
    const data = join(folder, 'dead');
    const own = { ...env(), KITH_PREFIX: `${prefix}d` };
    {
      await using platform = await embedded(data);
      const people = createPeople(caller(platform.url), operatorToken);
      await people.createUser((await people.createProject()).id);
    }
    {
      using log = new DatabaseSync(join(data, 'events.sqlite'));
      const event = log.prepare('SELECT id, subject, body FROM events LIMIT 1').get();
      log
        .prepare('INSERT INTO dead_letters (durable, id, subject, body, error, at) VALUES (?, ?, ?, ?, ?, ?)')
        .run('connections-profiles', event!.id!, event!.subject!, event!.body!, 'Error', Date.now());
    }
    const moved = await kith(['move', '--from', data], own);
    expect([moved.code, moved.stderr]).toEqual([0, moved.stderr]);
    await using client = new MongoClient(engines.mongodbUrl);
    const events = client.db(`${prefix}d_identity`).collection('events');
    expect(await events.countDocuments({ unpublished: true })).toBe(1);
    await eraseEngines(engines, `${prefix}d`);
  }, 60_000);

  it('refuses databases that hold other data, and folders that hold none or more than it knows', async () => {
    const data = join(folder, 'refused');
    const own = { ...env(), KITH_PREFIX: `${prefix}f` };
    await (await embedded(data)).stop();
    await using client = new MongoClient(engines.mongodbUrl);
    const db = client.db(`${prefix}f_collections`);
    await db.collection('collections').insertOne({ name: 'theirs' });
    const said = async (path: string) => {
      const { code, stderr } = await kith(['move', '--from', path], own);
      expect(code).toBe(1);
      return stderr;
    };
    expect(await said(data)).toContain(`The database ${prefix}f_collections holds other data`);
    expect(await db.collection('collections').countDocuments()).toBe(1);
    expect(await said(join(folder, 'nothing'))).toContain('There is no embedded installation in');
    await writeFile(join(data, 'more.sqlite'), '');
    await chmod(join(data, 'more.sqlite'), 0o600);
    expect(await said(data)).toContain('more.sqlite can not be moved by this version.');
    await rm(join(data, 'more.sqlite'));
    using events = new DatabaseSync(join(data, 'collections.sqlite'));
    events.exec('CREATE TABLE more (id TEXT PRIMARY KEY)');
    await db.dropDatabase();
    expect(await said(data)).toContain('The table more of collections can not be moved by this version.');
    await eraseEngines(engines, `${prefix}f`);
  }, 60_000);
});

/** Fills an installation with something of everything there is, through its API. */
async function makeBusy(call: Call): Promise<World> {
  const people = createPeople(call, operatorToken);
  const { id: projectId } = await people.createProject('Moved');
  await call('PATCH', `/admin/projects/${projectId}`, {
    token: operatorToken,
    body: {
      webOrigins: ['https://app.example.org'],
      limits: { 'identity.sign-in': { max: 9, windowSeconds: 60 } },
    },
  });
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
  await waitFor(async () => (await connected()) === 2, { what: 'the erasure of the one who left' });
  const told = async () => JSON.stringify(await as(ada, 'GET', '/app-notifications?limit=50'));
  await waitFor(async () => !(await told()).includes(leaver.id), { what: 'no notification that names them' });
  const unread = () => as(ada, 'GET', '/app-notifications/count') as unknown as Promise<number>;
  await waitFor(async () => (await unread()) >= 4, { what: 'notifications' });
  await as(ada, 'PATCH', '/app-notifications/mark-all-as-read');
  return { projectId, users, collectionId: books.id };
}

/** What every user gets to read, of everything. */
async function readAll(call: Call, { projectId, users, collectionId }: World): Promise<unknown> {
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

/** What was begun before goes on: tokens, changes of what was moved, events and feeds. */
async function goesOn(call: Call, { projectId, users, collectionId }: World): Promise<void> {
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
