// Starts no platform and at most 10 processes.
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyRepository, type RepositoryCopy } from './support/repository-copy.ts';
import { startByKith } from './support/start-script.ts';

const run = promisify(execFile);

/**
 * The beginning of a command that runs a program without root's capability to write everywhere. Empty if this user is not root.
 */
const by =
  process.getuid?.() === 0
    ? ['setpriv', '--bounding-set', '-dac_override', '--inh-caps', '-dac_override']
    : [];

describe('code that the user who runs it cannot change', () => {
  const undo = new AsyncDisposableStack();
  let copy: RepositoryCopy;
  let data: string;
  beforeAll(async () => {
    copy = undo.use(await copyRepository());
    data = undo.use(await mkdtempDisposable(join(tmpdir(), 'kith-data-'))).path;
  });
  afterAll(() => undo.disposeAsync());

  const protect = async () => {
    await run('chmod', ['-R', 'a-w', copy.path]);
    undo.defer(() => run('chmod', ['-R', 'u+w', copy.path]).then(() => undefined));
    const [program = '', ...words] = [...by, 'touch', join(copy.path, 'written')];
    await expect(run(program, words)).rejects.toThrow('Permission denied');
  };
  const start = (until: string) =>
    startByKith({ folder: copy.path, by, env: { KITH_DATA: data, PORT: '0', INTERNAL_PORT: '0' }, until });

  it('runs, and stays unchanged', async () => {
    await protect();
    const before = await readdir(copy.path, { recursive: true });
    await using kith = await start('Ctrl-C ends it');
    expect(kith.output()).toContain('Kith is up');
    expect(await readdir(copy.path, { recursive: true })).toEqual(before);
  }, 60_000);

  it('says which user has to install missing packages', async () => {
    await run('chmod', ['-R', 'u+w', copy.path]);
    await rm(join(copy.path, 'node_modules/.package-lock.json'));
    await protect();
    await using kith = await start('installs them');
    expect([await kith.exited, kith.output()]).toEqual([
      1,
      expect.stringContaining(`this user cannot write to ${copy.path}/ (EACCES)`),
    ]);
  }, 60_000);
});
