// Starts at most 2 platforms and 7 processes.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Collection, Connection, ImportResult } from '@kith/contracts';
import { handlerEngines, startPlatform, type TestPlatform, type TestUser, waitFor } from '@kith/testing';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessOf, runKith, type Said } from './support/command.ts';
import { everythingOf } from './support/everything.ts';

/**
 * Removes a user from identity's database without an event, so the other services do not learn of it. The platform is then in
 * the same state as if the event of a deletion had left the log before the services received the event.
 */
async function deleteUnheard(platform: TestPlatform, { projectId, id }: TestUser): Promise<void> {
  const key = `${projectId}|${id}`;
  if (!platform.engines) {
    const db = new DatabaseSync(join(platform.dataFolder, 'identity.sqlite'), { timeout: 5_000 });
    db.prepare('DELETE FROM users WHERE id = ?').run(key);
    db.close();
    return;
  }
  await using client = new MongoClient(platform.engines.mongodbUrl);
  await client.db(`${platform.prefix}_identity`).collection<{ _id: string }>('users').deleteOne({ _id: key });
}

describe.each(handlerEngines())('kith erase-again (%s)', (engine) => {
  let platform: TestPlatform;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-erase-again-'));
    platform = await startPlatform({ engine });
  });
  afterAll(async () => {
    await platform?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const at = '2026-01-02T03:04:05.678Z';
  const noteOf = ({ projectId, id: userId }: TestUser) => ({ projectId, userId, at });
  /** Writes a list of erasures, and runs the command with it. */
  const eraseAgain = async (notes: readonly object[], ...options: string[]) => {
    const list = join(folder, 'erasures.jsonl');
    await writeFile(list, notes.map((note) => `\n${JSON.stringify(note)}\n`).join(''));
    return runKith(['erase-again', '--erased', list, ...options], accessOf(platform));
  };
  const call = <T>(user: TestUser, path: string) =>
    platform.call<T>('GET', `/v7/${user.projectId}${path}`, { token: user.accessToken });
  const isStored = async (word: string) => (await everythingOf(platform, { logs: false })).includes(word);
  const isErased = (word: string) =>
    waitFor(async () => !(await isStored(word)), { timeoutMs: 60_000, what: `the erasure of ${word}` });

  it('erases the data of users whose deletion the services have missed, and no data of users who exist', async () => {
    const { id } = await platform.createProject();
    const friend = await platform.createUser(id, { name: 'Friend' });
    const gone = await platform.createUser(id, { name: 'Gone' });
    const back = await platform.createUser(id, { name: 'Back' });
    for (const user of [gone, back]) await platform.connect(user, friend, `zqmessage ${user.user.name}`);
    await platform.createCollection(gone, 'zqfolder Gone');
    await platform.createCollection(back, 'zqfolder Back');
    const files = {
      gone: await platform.uploadFile(gone, 'file of Gone'),
      back: await platform.uploadFile(back, 'file of Back'),
    };
    const connected = async () => {
      const { connections } = await call<{ connections: Connection[] }>(friend, '/connections');
      return connections.map(({ connectedUser }) => connectedUser.name).sort();
    };
    const notified = async () => {
      const { data } = await call<{ data: { metadata: { initiatorName: string | null } }[] }>(
        friend,
        '/app-notifications',
      );
      return data.map(({ metadata }) => metadata.initiatorName).sort();
    };
    const fileStatus = async ({ fileId }: { fileId: string }) =>
      (await fetch(`${platform.url}/v7/${id}/storage/files/${fileId}`)).status;
    await waitFor(async () => (await notified()).length === 2, { what: 'the notifications' });
    await deleteUnheard(platform, gone);
    expect([await connected(), await fileStatus(files.gone)]).toEqual([['Back', 'Gone'], 200]);

    const notes = [noteOf(gone), { projectId: id, at }, noteOf(back), noteOf(gone)];
    const said = await eraseAgain(notes);
    const done = { code: 0, stdout: '1 announced, 1 left out because they exist\n', stderr: '' };
    expect(said).toEqual(done);
    for (const word of ['zqmessage Gone', 'zqfolder Gone']) await isErased(word);
    await waitFor(async () => (await notified()).includes(null), { what: 'the notification without a name' });
    await waitFor(async () => (await fileStatus(files.gone)) === 404, { what: 'the erasure of the file' });

    // Repeating the command changes nothing.
    expect(await eraseAgain(notes)).toEqual(done);
    const path = `/admin/projects/${id}/import/users`;
    const rows = { token: platform.operatorToken, body: { rows: [{ id: gone.id }] } };
    const { rejected } = await platform.call<ImportResult>('POST', path, rows);
    expect(rejected).toEqual([{ row: 0, reason: 'deleted' }]);
    expect(await connected()).toEqual(['Back']);
    expect(await notified()).toEqual(['Back', null]);
    const root = await call<Collection>(back, '/collections/root');
    const below = await call<Collection[]>(back, `/collections/${root.id}/sub-collections`);
    expect(below.map(({ name }) => name)).toEqual(['zqfolder Back']);
    expect(await fileStatus(files.back)).toBe(200);
  }, 120_000);

  it('also erases data of a project whose deletion waits for this erasure', async () => {
    const { id } = await platform.createProject();
    const gone = await platform.createUser(id);
    await platform.createCollection(gone, 'zqfolder of a project');
    await deleteUnheard(platform, gone);
    const token = platform.operatorToken;
    await platform.call('DELETE', `/admin/projects/${id}`, { token });
    const isRefused = async () => {
      const answer = await fetch(`${platform.url}/v7/${id}/users/${gone.id}`);
      return ((await answer.json()) as { code?: string }).code === 'project/not-found';
    };
    await waitFor(isRefused, { what: 'the deletion of the project' });
    expect(await isStored('zqfolder of a project')).toBe(true);
    const said = await eraseAgain([noteOf(gone)], '--json');
    expect(JSON.parse(said.stdout)).toEqual({ announced: 1, existing: 0 });
    await isErased('zqfolder of a project');
  }, 120_000);

  it('announces no erasures from before the time of --since, and none outside of the project of --project', async () => {
    const { id } = await platform.createProject();
    const user = await platform.createUser(id);
    const announced = async (...options: string[]) =>
      JSON.parse((await eraseAgain([noteOf(user)], '--json', ...options)).stdout);
    const one = { announced: 0, existing: 1 };
    expect(await announced('--since', '2026-01-02', '--project', id)).toEqual(one);
    expect(await announced('--since', '2026-01-02T03:04:06Z')).toEqual({ announced: 0, existing: 0 });
    expect(await announced('--project', platform.project.id)).toEqual({ announced: 0, existing: 0 });
  });

  it('refuses a list with an invalid entry, a wrong time, and a call without a list', async () => {
    const refused = ({ code, stderr }: Said) => [code, stderr];
    expect(refused(await eraseAgain([{ projectId: 'x' }]))).toEqual([
      1,
      expect.stringContaining('erasures.jsonl, line 2 is not a valid erasure entry'),
    ]);
    expect(refused(await eraseAgain([], '--since', 'yesterday'))).toEqual([
      2,
      expect.stringContaining('--since must be a time'),
    ]);
    expect(refused(await runKith(['erase-again'], accessOf(platform)))).toEqual([
      2,
      expect.stringContaining('--erased is needed.'),
    ]);
  });
});
