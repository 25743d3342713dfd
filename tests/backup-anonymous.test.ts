// Starts no platform and no process.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Connection } from '@kith/contracts';
import { caller, storingNames } from '@kith/platform';
import { createPeople, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runKith } from './support/command.ts';
import {
  makeBusy,
  makeSmall,
  operatorToken,
  startInFolder,
  type World,
} from './support/moved-installation.ts';
import { filePart, multipart } from './support/multipart.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-anonymous-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('an anonymous backup contains data of the same form, but no real data of users', async () => {
  const backup = join(folder, 'pocket');
  let world: World;
  let said: Awaited<ReturnType<typeof runKith>>;
  {
    await using platform = await startInFolder(join(folder, 'data'));
    const call = caller(platform.url);
    world = await makeBusy(call);
    // The quota is enough for one file of `uploadTo`, but not for two.
    await call('PATCH', `/admin/projects/${world.projectId}`, {
      token: operatorToken,
      body: { storageMib: 1 },
    });
    expect(await uploadTo(platform.url, world.projectId, world.users[0]!.accessToken)).toBe(201);
    storeNewerFields(join(folder, 'data'));
    said = await runKith(['backup', backup, '--anonymise'], { KITH_DATA: join(folder, 'data') });
    expect([said.code, said.stderr]).toEqual([0, expect.stringContaining('identity: anonymised')]);
  }
  const told = [
    ...world.users.flatMap(({ id, email, refreshToken }) => [id, email, refreshToken]),
    ...['Üser', 'üser', 'user.1', 'Moved on', 'Hello"', 'Waiting', 'Novels', '"one"', 'app.example.org'],
    ...[world.projectId, world.collectionId, newerText],
  ];
  for (const name of await readdir(backup)) {
    const content = (await readFile(join(backup, name))).toString('latin1');
    const found = told.filter((text) => content.includes(Buffer.from(text).toString('latin1')));
    expect([name, found]).toEqual([name, []]);
  }

  await using platform = await startInFolder(backup);
  const call = caller(platform.url);
  const admin = <T>(path: string) => call<T>('GET', `/admin/projects${path}`, { token: operatorToken });
  const { data: projects } = await admin<{ data: { id: string }[] }>('');
  const { id: projectId } = projects[0]!;
  const { data: users } = await admin<{ data: { id: string; email: string; name: string }[] }>(
    `/${projectId}/users?limit=100`,
  );
  // The backup also contains the suspended user, whom `world.users` does not contain.
  expect(users).toHaveLength(world.users.length + 1);
  const password = /all users now have the password (\S+)/.exec(said.stderr)?.[1];
  const counts: number[] = [];
  const uploads: number[] = [];
  for (const { email } of users) {
    const signedIn = call<{ accessToken: string }>('POST', `/v7/${projectId}/auth/sign-in`, {
      body: { email, password },
    });
    const session = await signedIn.catch(() => undefined);
    if (!session) continue;
    const { connections } = await call<{ connections: { connectedUser: { id: string; name: string } }[] }>(
      'GET',
      `/v7/${projectId}/connections`,
      { token: session.accessToken },
    );
    for (const { connectedUser } of connections) {
      // The connections service has its own copy of each profile. The made-up name in this copy has to be the same as the
      // made-up name in identity.
      expect(connectedUser.name).toBe(users.find(({ id }) => id === connectedUser.id)?.name);
    }
    counts.push(connections.length);
    if (counts.length <= 2) uploads.push(await uploadTo(platform.url, projectId, session.accessToken));
  }
  expect(counts).toHaveLength(world.users.length);
  expect(Math.max(...counts)).toBe(2);
  // The backup contains the project's quota, but none of the project's files. So there is room for the first upload, and the
  // second one exceeds the quota.
  expect(uploads).toEqual([201, 403]);
}, 60_000);

it('an anonymous backup of a restored installation accepts later changes', async () => {
  const [adopted, backup] = [join(folder, 'adopted'), join(folder, 'restored')];
  type Caller = ReturnType<typeof caller>;
  type SignedIn = Pick<TestUser, 'id' | 'projectId' | 'accessToken'>;
  const rename = ({ id, projectId, accessToken: token }: SignedIn, call: Caller, name: string) =>
    call('PATCH', `/v7/${projectId}/users/${id}`, { token, body: { name } });
  /** Waits until the connections service has the new name in its copy of the profile. */
  const sees = ({ projectId, accessToken: token }: SignedIn, call: Caller, name: string) =>
    waitFor(
      async () => {
        const path = `/v7/${projectId}/connections`;
        const { connections } = await call<{ connections: Connection[] }>('GET', path, { token });
        return connections[0]?.connectedUser.name === name;
      },
      { what: name },
    );
  let users: TestUser[];
  {
    await using platform = await startInFolder(join(folder, 'first'));
    const people = createPeople(caller(platform.url), operatorToken);
    const { id } = await people.createProject();
    users = [await people.createUser(id), await people.createUser(id)];
    await people.connect(users[0]!, users[1]!);
  }
  const data = { KITH_DATA: join(folder, 'first') };
  expect((await runKith(['backup', adopted], data)).code).toBe(0);
  expect((await runKith(['adopt', '--from', adopted], {})).code).toBe(0);
  let said: Awaited<ReturnType<typeof runKith>>;
  {
    await using platform = await startInFolder(adopted);
    const call = caller(platform.url);
    await rename(users[0]!, call, 'Renamed');
    await sees(users[1]!, call, 'Renamed');
    said = await runKith(['backup', backup, '--anonymise'], { KITH_DATA: adopted });
    expect(said.code).toBe(0);
  }

  await using platform = await startInFolder(backup);
  const call = caller(platform.url);
  const admin = <T>(path: string) => call<T>('GET', `/admin/projects${path}`, { token: operatorToken });
  const projectId = (await admin<{ data: { id: string }[] }>('')).data[0]!.id;
  const { data: all } = await admin<{ data: { id: string; email: string }[] }>(`/${projectId}/users`);
  const password = /all users now have the password (\S+)/.exec(said.stderr)?.[1];
  const signedIn = await Promise.all(
    all.map(async ({ id, email }) => {
      const body = { email, password };
      const path = `/v7/${projectId}/auth/sign-in`;
      return { id, projectId, ...(await call<{ accessToken: string }>('POST', path, { body })) };
    }),
  );
  for (const [one, other] of [signedIn, signedIn.toReversed()] as [SignedIn, SignedIn][]) {
    await rename(one, call, 'Later');
    await sees(other, call, 'Later');
  }
}, 60_000);

it('a document is not anonymised if it has a value that only a newer version knows', async () => {
  const [data, backup] = [join(folder, 'newer'), join(folder, 'refused')];
  await makeSmall(data);
  {
    using db = new DatabaseSync(join(data, 'identity.sqlite'));
    db.exec(`UPDATE projects SET doc = json_set(doc, '$.signUp', 'by invitation')`);
  }
  const { code, stderr } = await runKith(['backup', backup, '--anonymise'], { KITH_DATA: data });
  expect([code, stderr]).toEqual([1, expect.stringContaining('the field signUp of a document in projects')]);
  expect(await readdir(folder)).not.toContain('refused');
});

const newerText = 'a text in a field of a newer version';

/** Adds fields to all stored documents, and to objects in these documents, as a newer version may do. */
function storeNewerFields(data: string): void {
  for (const name of storingNames) {
    using db = new DatabaseSync(join(data, `${name}.sqlite`));
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE sql LIKE '%doc TEXT NOT NULL%'").all();
    for (const { name: table } of tables) {
      for (const path of ['$', '$.request', '$.blocks[0]', '$.user', '$.root', '$.project']) {
        const isObject = `json_type(doc, '${path}') = 'object'`;
        db.exec(
          `UPDATE "${table}" SET doc = json_set(doc, '${path}.newer', '${newerText}') WHERE ${isObject}`,
        );
      }
    }
  }
}

/** Uploads a file of 700 KiB, and resolves with the status. */
async function uploadTo(url: string, projectId: string, token: string): Promise<number> {
  const { type, body } = multipart([filePart(Buffer.alloc(700 * 1024))]);
  const { status } = await fetch(`${url}/v7/${projectId}/storage/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    body: new Uint8Array(body),
  });
  return status;
}
