// Starts no platform and no process.
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markMoved } from '@kith/store/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKith } from './support/command.ts';
import { makeSmall, movedSecret, startInFolder } from './support/moved-installation.ts';

describe('kith backup, restore and adopt', () => {
  let root: string;
  const pathOf = (name: string) => join(root, name);
  const refused = async (words: string[], env: NodeJS.ProcessEnv = {}) => {
    const { code, stderr } = await runKith(words, env);
    expect(code).toBeGreaterThan(0);
    return stderr;
  };
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'kith-refusals-'));
    await makeSmall(pathOf('data'));
    const made = await runKith(['backup', pathOf('backup')], { KITH_DATA: pathOf('data') });
    expect(made.code).toBe(0);
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it('the commands never write to existing files, and report what is missing', async () => {
    const data = { KITH_DATA: pathOf('data') };
    expect(await refused(['backup'], data)).toContain('Name the folder');
    expect(await refused(['backup', pathOf('backup')], data)).toContain('exists already');
    const nowhere = { KITH_DATA: pathOf('nowhere') };
    expect(await refused(['backup', pathOf('other')], nowhere)).toContain('events.sqlite is missing');
    const database = { MONGODB_URL: 'mongodb://127.0.0.1:1' };
    expect(await refused(['backup', pathOf('other')], database)).toContain('Set NATS_URL');
    expect(await refused(['restore', pathOf('data')], nowhere)).toContain('There is no backup in');
    expect(await refused(['restore', pathOf('backup')], data)).toContain('is not empty');
    expect(await refused(['adopt'], data)).toContain('holds no backup');
    const copy = ['move', '--from', pathOf('backup')];
    expect(await refused(copy, database)).toContain('is a copy of a platform');
  });

  it('kith adopt does not make a folder that is missing', async () => {
    const never = pathOf('never');
    expect(await refused(['adopt', '--from', never])).toContain('holds no backup');
    expect(await readdir(root)).not.toContain('never');
  });

  it('kith secrets rotate keeps the secret if databases of the distributed form are sealed under it', async () => {
    const shared = pathOf('shared');
    await makeSmall(shared);
    await writeFile(join(shared, 'secret'), 'the secret of both forms of the platform\n');
    const rotate = () => refused(['secrets', 'rotate'], { KITH_DATA: shared });
    await writeFile(join(shared, 'installation.json'), '{}');
    expect(await rotate()).toContain('its databases are sealed under the same secret');
    await rm(join(shared, 'installation.json'));
    markMoved(join(shared, 'events.sqlite'));
    expect(await rotate()).toContain('was moved to the distributed form');
    expect(await readFile(join(shared, 'secret'), 'utf8')).toBe('the secret of both forms of the platform\n');
  });

  it('a backup of a backup has the settings of the first backup, unless the environment has other values', async () => {
    const settings = async (from: string, to: string, given: NodeJS.ProcessEnv) => {
      const made = await runKith(['backup', pathOf(to)], { KITH_DATA: pathOf(from), ...given });
      expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('the backup is in')]);
      return JSON.parse(await readFile(join(pathOf(to), 'backup.json'), 'utf8')).settings;
    };
    const own = { KITH_PREFIX: 'kith', TOKEN_ISSUER: 'kith', TOKEN_AUDIENCE: 'example.org' };
    expect(await settings('data', 'first', { TOKEN_AUDIENCE: 'example.org' })).toEqual(own);
    expect(await settings('first', 'second', { TOKEN_AUDIENCE: '' })).toEqual(own);
    await writeFile(pathOf('audience'), 'example.com\n');
    const fromFile = await settings('first', 'third', { TOKEN_AUDIENCE_FILE: pathOf('audience') });
    expect(fromFile).toEqual({ ...own, TOKEN_AUDIENCE: 'example.com' });
  });

  it('the commands refuse a folder that was moved, and a backup of another format', async () => {
    await makeSmall(pathOf('moved'));
    markMoved(join(pathOf('moved'), 'events.sqlite'));
    const moved = { KITH_DATA: pathOf('moved') };
    expect(await refused(['backup', pathOf('other')], moved)).toContain('was moved to the distributed form');
    await mkdir(pathOf('newer'));
    await writeFile(join(pathOf('newer'), 'backup.json'), JSON.stringify({ format: 2 }));
    expect(await refused(['restore', pathOf('newer')])).toContain('cannot be read by this version');
  });

  it('restore refuses an invalid list of erasures, and accepts a list whose last line is incomplete', async () => {
    const list = pathOf('erasures.jsonl');
    const to = { KITH_DATA: pathOf('restored'), KITH_SECRET: movedSecret };
    const restore = ['restore', pathOf('backup'), '--erased', list];
    expect(await refused(restore, to)).toContain('cannot be read');
    await writeFile(list, '{"projectId":"p"}\n');
    expect(await refused(restore, to)).toContain('erasures.jsonl, line 1 is not a valid erasure entry');
    const nobody = { projectId: randomUUID(), userId: randomUUID(), at: new Date().toISOString() };
    const entry = JSON.stringify(nobody);
    for (const other of [`[${entry}]`, `${entry},`, 'projectId,userId,at', `${entry}${entry}`]) {
      await writeFile(list, `${entry}\n${other}\n`);
      expect(await refused(restore, to)).toContain('erasures.jsonl, line 2 is not a valid erasure entry');
    }
    // A list of erasures in UTF-16 is refused.
    await writeFile(list, `${entry}\n`, 'utf16le');
    expect(await refused(restore, to)).toContain('erasures.jsonl, line 1 is not a valid erasure entry');
    await writeFile(list, '\n{"projectId":"p","use');
    // The line ends of another system are accepted, because an editor may have written them.
    await appendFile(list, `\r\n${entry}\r\n\r\n{"proj`);
    const restored = await runKith(restore, to);
    expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining('1 erasures')]);
    expect((await readdir(root)).filter((name) => name.endsWith('.partial'))).toEqual([]);
    // The restored folder now counts as an independent installation (`adoptedAt`). The backup itself still counts as a copy.
    expect(JSON.parse(await readFile(join(to.KITH_DATA, 'backup.json'), 'utf8'))).toHaveProperty('adoptedAt');
    const kept = JSON.parse(await readFile(join(pathOf('backup'), 'backup.json'), 'utf8'));
    expect(kept).not.toHaveProperty('adoptedAt');
    await (await startInFolder(to.KITH_DATA)).stop();
  });
});
