// Quick counterpart: tests/package-manifests.test.ts
// Starts no platform and at most 6 processes.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { availableEngines } from '../src/index.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const files = fileURLToPath(new URL('support/installed/', import.meta.url));

/** Writes a package that depends on all the archives. All other packages get the versions of the repository's lock file. */
async function writePackage(folder: string, archives: readonly string[]): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  const versions = Object.entries<{ link?: boolean }>(packages).filter(
    ([path, { link }]) => path.startsWith('node_modules/') && !link,
  );
  const about = { name: 'application', version: '1.0.0', private: true, type: 'module' };
  const dependencies = Object.fromEntries(
    archives.map((file) => [file.replace(/^kith-(.*)-\d+\.\d+\.\d+\.tgz$/, '@kith/$1'), `file:${file}`]),
  );
  const write = (name: string, content: object) => writeFile(join(folder, name), JSON.stringify(content));
  await write('package.json', { ...about, dependencies });
  const locked = { '': about, ...Object.fromEntries(versions) };
  await write('package-lock.json', { ...about, lockfileVersion: 3, packages: locked });
}

describe('the packages as they are published', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-testing-package-'));
    const built = join(folder, 'built');
    await run(process.execPath, ['tools/build-packages.ts', 'testing', '--out', built], { cwd: root });
    const packages = (await readdir(built)).map((name) => join(built, name));
    const { stdout } = await run('npm', ['pack', ...packages, '--silent'], { cwd: folder });
    await writePackage(folder, stdout.trim().split('\n'));
    const words = ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', words, { cwd: folder });
    await cp(files, folder, { recursive: true });
  }, 240_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('all packages are JavaScript, each with its types', async () => {
    const scope = join(folder, 'node_modules/@kith');
    for (const name of await readdir(scope)) {
      const content = await readdir(join(scope, name), { recursive: true });
      expect(content).toEqual(expect.arrayContaining(['package.json', 'lib/index.js', 'lib/index.d.ts']));
      expect(content.filter((file) => /\.test\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
      expect(JSON.parse(await readFile(join(scope, name, 'package.json'), 'utf8')).private).toBeUndefined();
    }
  });

  it.each(availableEngines())('the installed packages start a platform (%s)', async (engine) => {
    const env = { ...process.env, ENGINE: engine, NODE_TEST_CONTEXT: undefined };
    const { stdout } = await run(process.execPath, ['--test', 'suite.js'], { cwd: folder, env });
    expect(stdout).toMatch(/pass 1\n/);
  });

  it('the packages have the types of events and of the client', async () => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'esnext',
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      skipLibCheck: true,
    };
    const config = { compilerOptions, files: ['typed.ts'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const outcome = await run(process.execPath, [tsc, '-p', folder]).catch(
      (error: { stdout: string }) => error,
    );
    expect(outcome.stdout).toBe('');
  });
});
