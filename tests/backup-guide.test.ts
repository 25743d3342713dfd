// Starts at most 1 platform and 3 processes.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@kith/engines';
import { compileCache } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main, runKith } from './support/command.ts';
import { readBlocks } from './support/guide.ts';
import { kithWordsIn } from './support/kith-words.ts';
import { makeSmall, movedSecret, startInFolder } from './support/moved-installation.ts';

const run = promisify(execFile);

describe('the guide of backups', async () => {
  const blocks = await readBlocks('backup.md');
  const commands = blocks.filter(({ language }) => language === 'bash').map(({ text }) => text);
  const holding = (text: string) => commands.filter((one) => one.includes(text));
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-backup-guide-'));
    await makeSmall(join(folder, '.kith'), { name: 'Ada' });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Makes a folder with a program `npx`, which runs `kith` as the real `npx` would in an installed checkout. */
  const programs = async (): Promise<string> => {
    const bin = join(folder, 'bin');
    await mkdir(bin);
    const words = `shift; exec '${process.execPath}' '${main}' "$@"`;
    await writeFile(join(bin, 'npx'), `#!/bin/sh\n${words}\n`, { mode: 0o755 });
    return bin;
  };

  it('has a script for a timer, which removes old backups only after a platform has started on the new backup', async () => {
    const [script = ''] = holding('rehearsal');
    const [port, internalPort] = [await freePort(), await freePort()];
    const text = script.replaceAll('8099', String(port)).replaceAll('9099', String(internalPort));
    const env = {
      PATH: `${await programs()}${delimiter}${process.env.PATH}`,
      NODE_COMPILE_CACHE: compileCache(),
      KITH_DATA: join(folder, '.kith'),
    };
    // The secret of the platform is where the first start of a platform puts it.
    const backUp = async (secret: string) => {
      await writeFile(join(folder, '.kith', 'secret'), secret);
      await run('bash', ['-c', text], { cwd: folder, env });
    };
    const names = () => readdir(join(folder, 'backups'));
    const kept = async () => (await names()).filter((name) => /^\d{4}-\d\d-\d\dT\d{6}$/.test(name)).sort();
    const older = Array.from({ length: 8 }, (_, day) => `2020-01-0${day + 1}T000000`);
    for (const name of older) await mkdir(join(folder, 'backups', name), { recursive: true });
    // Makes the folder that remains if a run of the script is killed during the test start. No platform can start on such a
    // folder, so the script has to remove it first.
    await mkdir(join(folder, 'backups', 'rehearsal'));
    await writeFile(join(folder, 'backups', 'rehearsal', 'identity.sqlite'), 'damaged');

    await expect(backUp('not the secret under which the keys of the backup are sealed')).rejects.toThrow();
    expect((await kept()).slice(0, older.length)).toEqual(older);
    expect(await kept()).toHaveLength(older.length + 1);

    await backUp(movedSecret);
    expect(await kept()).toHaveLength(7);
    expect((await kept()).slice(0, 5)).toEqual(older.slice(3));
    expect(await names()).not.toContain('rehearsal');
  }, 60_000);

  it('has commands that make a backup and restore it', async () => {
    const env = { KITH_DATA: join(folder, '.kith'), KITH_CWD: folder, KITH_SECRET: movedSecret };
    const [make = []] = kithWordsIn({ text: holding('kith backup backups')[0]! });
    const made = await runKith(make, env);
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('the backup is in')]);
    const [restore = []] = kithWordsIn({ text: holding('kith restore backups')[0]! });
    // The list of erasures exists even if no user was erased, so it can always be copied.
    await copyFile(join(folder, '.kith', 'erasures.jsonl'), join(folder, 'erasures.jsonl'));
    const restored = await runKith(restore, { ...env, KITH_DATA: join(folder, 'restored') });
    expect([restored.code, restored.stderr]).toEqual([0, 'copied\n']);
    await using platform = await startInFolder(join(folder, 'restored'));
    expect(await platform.notReady()).toEqual([]);
  }, 60_000);
});
