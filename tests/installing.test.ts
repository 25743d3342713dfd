// Starts no platform and at most 50 processes.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtempDisposable, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { helpOf } from '../tools/bootstrap/help.mjs';
import { replace } from '../tools/bootstrap/install.mjs';
import { cutTo, extras, holds, type Lock, partsFor, pathsOf } from '../tools/bootstrap/sizes.mjs';
import { type FakeNpm, makeFakeNpm } from './support/fake-npm.ts';
import { cloneRepository, type RepositoryCopy } from './support/repository-copy.ts';
import { startByKith } from './support/start-script.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const supportFile = (name: string) => fileURLToPath(new URL(`support/${name}`, import.meta.url));
const main = 'apps/kith/src/cli/main.ts';

/** Filters the paths of a lock file: returns the paths of third-party packages. */
const ofOthers = (paths: Iterable<string>) =>
  [...paths].filter((path) => /node_modules\/(?!@kith\/)/.test(path));

describe('the packages that are needed to run Kith', () => {
  const run = ofOthers(pathsOf(['run'], lock));

  it('at most 130 third-party packages are needed to run Kith', () => {
    // Some packages of this list are built for other systems. npm does not install them, so they do not count.
    const installed = run.filter((path) => existsSync(join(root, path)));
    expect(installed.length).toBeGreaterThan(60);
    expect(installed.length).toBeLessThanOrEqual(130);
  });

  it.each(Object.entries(extras))(
    'the packages for %s are in the lock file, but not needed to run Kith',
    (_, { names }) => {
      const have = (paths: readonly string[], start: string) =>
        paths.some((path) => path.startsWith(`node_modules/${start}`));
      for (const start of names) {
        expect(have(Object.keys(lock.packages), start), start).toBe(true);
        // One package of OpenTelemetry is always installed: its API package, because the library for metrics depends on
        // it. The API package has only types and functions that do nothing.
        const others = run.filter((path) => path !== 'node_modules/@opentelemetry/api');
        expect(have(others, start), start).toBe(false);
      }
    },
  );

  it.each<[string, string[], NodeJS.ProcessEnv, string[]]>([
    [main, ['start'], {}, ['run']],
    [main, ['start', '--distributed'], {}, ['run', 'distributed']],
    [main, ['backup', 'there'], { NATS_URL: 'nats://127.0.0.1' }, ['run', 'distributed']],
    [main, ['start'], { MONGODB_URL_FILE: '/run/secrets/mongodb' }, ['run', 'distributed']],
    [main, ['start'], { STORAGE_URL: 's3://files' }, ['run', 's3']],
    [main, ['start'], { OTEL_TRACES_EXPORTER: 'otlp' }, ['run', 'tracing']],
    ['tools/check.ts', [], {}, ['all']],
    ['tools/test.ts', ['--long'], {}, ['all']],
  ])('%s %j with %j needs the parts %j', (script, words, env, parts) => {
    expect(partsFor(script, words, env)).toEqual(parts);
  });

  it('the needed packages have the versions of the lock file, and our packages require only needed packages', () => {
    const { lock: cut, trim } = cutTo(['run'], lock);
    for (const path of ofOthers(Object.keys(cut.packages))) {
      expect(cut.packages[path]).toEqual(lock.packages[path]);
    }
    const store = JSON.parse(readFileSync(join(root, 'libs/store/package.json'), 'utf8'));
    expect(Object.keys(store.dependencies)).toContain('mongodb');
    expect(Object.keys(trim(store).dependencies ?? {})).toEqual(['@kith/base', '@kith/contracts', 'zod']);
  });

  it('a package is left out if only packages for other machines need it', () => {
    const platform = 'node_modules/@kith/platform';
    const packages: Lock['packages'] = {
      [platform]: { link: true, resolved: 'apps/kith' },
      'apps/kith': { dependencies: { own: '1' } },
      'node_modules/own': { version: '1.0.0', optionalDependencies: { foreign: '1' } },
      'node_modules/foreign': { version: '1.0.0', optional: true, dependencies: { shared: '1' } },
      // In this example, another package of the lock file, which is not shown here, needs `shared`, too. So npm has not marked
      // `shared` as optional.
      'node_modules/shared': { version: '1.0.0' },
    };
    const linked = { [platform]: { link: true } };
    const installed = { ...linked, 'node_modules/own': { version: '1.0.0' } };
    expect(holds({ packages: installed }, ['run'], { packages })).toBe(true);
    expect(holds({ packages: linked }, ['run'], { packages })).toBe(false);
    const older = { ...installed, 'node_modules/shared': { version: '0.9.0' } };
    expect(holds({ packages: older }, ['run'], { packages })).toBe(false);
  });

  it('a start loads only the needed packages', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kith-loaded-'));
    const file = join(folder.path, 'modules');
    const env = {
      NODE_OPTIONS: `--import ${supportFile('record-modules.mjs')}`,
      KITH_TEST_MODULES: file,
      KITH_DATA: join(folder.path, 'data'),
      PORT: '0',
      INTERNAL_PORT: '0',
    };
    await using kith = await startByKith({ env, until: 'Ctrl-C ends it' });
    expect(kith.output()).toContain('Kith is up');
    const modules = await readFile(file, 'utf8');
    const loaded = new Set(modules.match(/node_modules\/(?:@[^/\n]+\/)?[^/\n]+(?=\/)/g));
    expect(loaded.size).toBeGreaterThan(30);
    // npm puts some packages into the `node_modules` folder of the package that needs them. So only the last part of each path
    // is compared.
    const known = new Set(run.map((path) => path.slice(path.lastIndexOf('node_modules/'))));
    expect([...loaded].filter((path) => !known.has(path) && !path.includes('/.'))).toEqual([]);
  });
});

describe('the bootstrap', () => {
  const undo = new AsyncDisposableStack();
  let copy: RepositoryCopy;
  let npm: FakeNpm;
  const inCopy = (path: string) => join(copy.path, path);
  const [run, distributed, work] = [[main, 'start'], [main, 'start', '--distributed'], ['tools/check.ts']];

  beforeAll(async () => {
    copy = undo.use(await cloneRepository());
    for (const script of [main, 'tools/check.ts']) await writeFile(inCopy(script), "console.log('ran');\n");
  });
  afterAll(() => undo.disposeAsync());
  beforeEach(async () => {
    npm = undo.use(await makeFakeNpm());
    await writeFile(inCopy('package-lock.json'), JSON.stringify(lock));
    for (const path of ['node_modules', 'tools/node/node_modules'])
      await rm(inCopy(path), { recursive: true, force: true });
  });

  const start = (words: readonly string[], env: NodeJS.ProcessEnv, node = process.execPath) => {
    const child = spawn(node, ['tools/bootstrap.mjs', ...words], {
      cwd: copy.path,
      env: { HOME: process.env.HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const output: string[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
      child.once('close', (code) => resolve({ code, output: output.join('') })),
    );
    return { ended, kill: () => process.kill(-(child.pid ?? 0), 'SIGKILL') };
  };
  const runs = async (words: readonly string[], env: NodeJS.ProcessEnv = npm.env()) => {
    const { code, output } = await start(words, env).ended;
    expect([code, output]).toEqual([0, expect.stringMatching(/^(.*\n)*ran\n$/)]);
  };
  const note = () => inCopy('node_modules/.package-lock.json');
  const installed = async () => new Set(Object.keys(JSON.parse(await readFile(note(), 'utf8')).packages));
  const holding = (...parts: string[]) => {
    const paths = pathsOf(parts, lock);
    paths.delete('');
    return paths;
  };
  const staging = async () => (await readdir(copy.path)).filter((name) => name.startsWith('.kith-install-'));
  const traced = () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });

  it('installs the packages that are needed to run Kith, and installs them only one time', async () => {
    await runs(run);
    expect(await installed()).toEqual(holding('run'));
    await runs(run);
    expect(await npm.calls()).toHaveLength(1);
    expect(await staging()).toEqual([]);
  });

  it('adds all other packages when development needs them, and then installs nothing more to run Kith', async () => {
    await runs(run);
    await runs(work);
    expect(await installed()).toEqual(holding('all'));
    await runs(run);
    await runs(distributed);
    expect(await npm.calls()).toHaveLength(2);
  });

  it('installs drivers and tracing when they are needed, and keeps the installed packages', async () => {
    await runs(run, { ...npm.env(), ...traced() });
    expect(await installed()).toEqual(holding('run', 'tracing'));
    await runs(distributed);
    expect(await installed()).toEqual(holding('run', 'tracing', 'distributed'));
    await runs(run, { ...npm.env(), MONGODB_URL_FILE: '/run/secrets/mongodb' });
    expect(await npm.calls()).toHaveLength(2);
  });

  it('installs nothing if npm has installed all packages of the lock file except those for other machines', async () => {
    const { '': _, ...packages } = lock.packages;
    const [foreign = ''] = Object.keys(packages).filter((path) => packages[path]?.optional);
    delete packages[foreign];
    await mkdir(inCopy('node_modules'));
    await writeFile(note(), JSON.stringify({ packages }));
    await runs(run);
    await runs(work);
    expect(await npm.calls()).toEqual([]);
  });

  it('installs packages if npm was interrupted', async () => {
    await mkdir(inCopy('node_modules/zod'), { recursive: true });
    await runs(run);
    expect(await npm.calls()).toHaveLength(1);
  });

  it.each([
    ['run', run],
    ['all', work],
  ] as const)('installs the same set (%s) again when a package has another version', async (part, words) => {
    await runs(words);
    const changed = structuredClone(lock);
    Object.assign(changed.packages['node_modules/zod'] ?? {}, { version: '4.0.0' });
    await writeFile(inCopy('package-lock.json'), JSON.stringify(changed));
    await runs(run);
    await runs(run);
    expect(await npm.calls()).toHaveLength(2);
    expect(await installed()).toEqual(holding(part));
  });

  it('keeps the installed packages when npm fails', async () => {
    await runs(run);
    const { code, output } = await start(work, npm.env('fails')).ended;
    expect([code, output]).toEqual([1, expect.stringMatching(/; see the output of npm above\.\n$/)]);
    expect(await installed()).toEqual(holding('run'));
    expect(await staging()).toEqual([]);
    await runs(work);
  });

  it('starts nothing if a signal interrupts it at the end of the installation, and the next start does not call npm', async () => {
    const { code, output } = await start(run, npm.env('interrupts')).ended;
    expect([code, output]).toEqual([1, expect.not.stringContaining('ran')]);
    await runs(run);
    expect(await npm.calls()).toHaveLength(1);
    expect(await staging()).toEqual([]);
  });

  it('works after an earlier installation was killed, and removes the files of the killed installation', async () => {
    await runs(run);
    const killed = start(work, npm.env('hangs'));
    await waitFor(async () => (await npm.calls()).length === 2, { what: 'npm' });
    killed.kill();
    await killed.ended;
    await runs(run);
    const [left = ''] = await staging();
    expect(left).not.toBe('');
    const old = new Date(Date.now() - 2 * 3_600_000);
    await utimes(inCopy(left), old, old);
    await runs(work);
    expect(await staging()).toEqual([]);
    expect(await installed()).toEqual(holding('all'));
  });

  it('can run twice at the same time', async () => {
    const both = [start(run, npm.env('waits')), start(work, npm.env('waits'))];
    for (const one of both) expect(await one.ended).toMatchObject({ code: 0 });
    expect(await npm.calls()).toHaveLength(2);
    expect(await staging()).toEqual([]);
    expect(await installed()).toEqual(holding('all'));
  });

  it('keeps the packages that another bootstrap installs at the same time', async () => {
    const both = [start(run, { ...npm.env('waits'), ...traced() }), start(distributed, npm.env('waits'))];
    for (const one of both) expect(await one.ended).toMatchObject({ code: 0 });
    expect(await installed()).toEqual(holding('run', 'tracing', 'distributed'));
  });

  it('keeps the packages of another bootstrap, even if a program that uses them makes a cache at the same time', async () => {
    const packages = { 'node_modules/theirs': { version: '1.0.0' } };
    const put = async (folder: string, packages: Lock['packages']) => {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, '.package-lock.json'), JSON.stringify({ packages }));
    };
    await put(inCopy('staged/node_modules'), {});
    await put(inCopy('node_modules'), packages);
    // The first call of `isNeeded` finds no packages yet. Before the second call, the packages have arrived, and `replace` has
    // moved them away.
    const answers = [true, false];
    const isNeeded = () => {
      if (answers.length === 1) mkdirSync(inCopy('node_modules/.cache'), { recursive: true });
      return answers.shift() ?? true;
    };
    expect(replace(inCopy('node_modules'), inCopy('staged'), isNeeded)).toBe(false);
    expect(await installed()).toEqual(new Set(Object.keys(packages)));
    await rm(inCopy('staged'), { recursive: true });
  });

  describe('the Node of the bootstrap', () => {
    const old = (env: NodeJS.ProcessEnv = {}) => ({
      ...npm.env(),
      NODE_OPTIONS: `--import ${supportFile('old-node.mjs')}`,
      ...env,
    });

    it('is not downloaded if this machine’s Node is new enough', async () => {
      await runs(work);
      expect(await npm.calls()).toEqual(['kith']);
      expect(existsSync(inCopy('tools/node/node_modules'))).toBe(false);
    });

    it('is downloaded once if this machine’s Node is too old', async () => {
      await runs(run, old());
      await runs(work, old());
      expect((await npm.calls()).toSorted()).toEqual(['kith', 'kith', 'kith-node']);
    });

    it('is pinned for each platform, with the checksum of its package', async () => {
      const { packages } = JSON.parse(await readFile(inCopy('tools/node/package-lock.json'), 'utf8'));
      for (const platform of ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win-x64']) {
        const paths = Object.keys(packages).filter((path) => path.endsWith(`-${platform}`));
        expect(paths, platform).toHaveLength(1);
        const { version, integrity } = packages[paths[0] ?? ''];
        expect([Number.parseInt(version, 10) >= 24, integrity]).toEqual([
          true,
          expect.stringMatching(/^sha512-/),
        ]);
      }
    });

    it('has to be installed by hand if npm has no Node for the platform', async () => {
      const { code, output } = await start(run, old({ KITH_TEST_PLATFORM: 'aix' })).ended;
      expect([code, output]).toEqual([
        1,
        expect.stringMatching(/Kith needs Node 24\.7 .* Install Node 24 and start again\.\n$/),
      ]);
    });
  });

  it.each([
    ['the Node of these tests', process.execPath],
    ['the machine’s Node', 'node'],
  ])('shows help without installed packages, on %s', async (_, node) => {
    const help = (...words: string[]) => start([main, ...words], { PATH: process.env.PATH }, node).ended;
    for (const words of [['--help'], ['start', '--help'], ['help', 'users', 'list']])
      expect(await help(...words)).toEqual({ code: 0, output: helpOf(main, words)?.text });
    const unknown = expect.stringMatching(/^kith: There is no such command\.\n\nUsage: kith COMMAND /);
    expect(await help('projetcs', '--help')).toEqual({ code: 2, output: unknown });
    expect(existsSync(inCopy('node_modules'))).toBe(false);
  });
});

describe('help', () => {
  it.each([
    ['npm run example -- ', 'tools/example.ts', ['--help']],
    ['Usage: kith COMMAND ', main, ['--help']],
    ['Usage: kith COMMAND ', main, ['help']],
    ['Usage: kith keys ', main, ['help', 'keys']],
    ['kith start ', main, ['start', '--port', '1', '-h']],
    ['kith projects create ', main, ['projects', 'create', '--name', 'x', '--help']],
    ['kith projects show ID ', main, ['projects', 'show', 'an-id', '-h']],
  ])('begins with %j for %s %j', (text, script, words) => {
    const help = helpOf(script, words);
    expect([help?.isOfAll, help?.text.slice(0, text.length)]).toEqual([false, text]);
  });

  it.each([
    ['tools/example.ts', ['--port', '1']],
    [main, ['projects', 'list']],
    [main, []],
    ['tools/test.ts', ['--help']],
  ])('is not given for %s %j', (script, words) => {
    expect(helpOf(script, words)).toBeUndefined();
  });
});
