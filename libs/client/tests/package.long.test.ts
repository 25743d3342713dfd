// Quick counterpart: libs/client/tests/bundle.test.ts
// Starts at most 1 platform and 11 processes.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { startPlatform, type TestPlatform } from '@kith/testing';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
/** The largest size of the bundle for browsers, minified and gzipped, in bytes. */
const largest = 15_000;

const application = (url: string, projectId: string) => `
import { createClient, isKithError } from '@kith/client';
import { createOperatorClient } from '@kith/client/operator';

const kith = createClient({ url: ${JSON.stringify(url)}, projectId: ${JSON.stringify(projectId)} });
const { user } = await kith.auth.signUp({ email: 'u' + crypto.randomUUID() + '@example.com', password: 'correct horse' });
const refusal = await kith.connections.request({ userId: user.id }).catch((error) => error);
const page = await kith.connections.list();
console.log(JSON.stringify([isKithError(refusal, 'connection/self-request'), page.total, typeof createOperatorClient]));
`;

describe('the package as it is published', () => {
  let folder: string;
  let platform: TestPlatform;
  let projectId: string;
  beforeAll(async () => {
    platform = await startPlatform();
    projectId = (await platform.createProject()).id;
    folder = await mkdtemp(join(tmpdir(), 'kith-client-package-'));
    await run(process.execPath, ['tools/build-packages.ts', 'client', '--out', folder], { cwd: root });
    const { stdout } = await run('npm', ['pack', join(folder, 'client'), '--silent'], { cwd: folder });
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'empty', private: true, type: 'module' }),
    );
    const archive = join(folder, stdout.trim());
    await run('npm', ['install', archive, '--offline', '--no-audit', '--no-fund'], { cwd: folder });
    await writeFile(join(folder, 'application.js'), application(platform.url, projectId));
  }, 120_000);
  afterAll(async () => {
    await platform.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('installs only itself, without TypeScript sources and tests', async () => {
    const installed = (await readdir(join(folder, 'node_modules'))).filter((name) => !name.startsWith('.'));
    expect(installed).toEqual(['@kith']);
    expect(await readdir(join(folder, 'node_modules/@kith'))).toEqual(['client']);
    const files = await readdir(join(folder, 'node_modules/@kith/client'), { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining(['README.md', 'LICENSE', 'lib/index.js', 'lib/index.d.ts', 'lib/operator.js']),
    );
    expect(files.filter((name) => /\.test\.|(?<!\.d)\.ts$/.test(name))).toEqual([]);
  });

  // The `node` in the path is the Node that an application would run on.
  it.each(['node', process.execPath])('works without a bundler in %s', async (node) => {
    const { stdout } = await run(node, [join(folder, 'application.js')], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual([true, 0, 'function']);
  });

  it('works when it is bundled', async () => {
    const outfile = join(folder, 'bundled.mjs');
    await build({
      entryPoints: [join(folder, 'application.js')],
      bundle: true,
      minify: true,
      format: 'esm',
      outfile,
    });
    const { stdout } = await run('node', [outfile], { cwd: tmpdir() });
    expect(JSON.parse(stdout)).toEqual([true, 0, 'function']);
  });

  it.each([
    ['bundler', 'esnext'],
    ['nodenext', 'nodenext'],
  ])('has types that compile for a page with %s resolution', async (moduleResolution, module) => {
    const lib = ['es2022', 'dom', 'dom.asynciterable'];
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2022',
      lib,
      types: [],
      module,
      moduleResolution,
    };
    const config = { compilerOptions, files: ['typed.ts'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const lines = [
      "import { createClient, localStorageSession } from '@kith/client';",
      "const kith = createClient({ url: '', projectId: '', session: localStorageSession('kith') });",
      'export const name: Promise<string | null> = kith.users.get({ userId: "" }).then((user) => user.name);',
      '// @ts-expect-error: a parameter is missing.',
      'kith.connections.accept({});',
      'for await (const { items } of kith.connections.list().pages()) console.log(items[0]?.message);',
    ];
    await writeFile(join(folder, 'typed.ts'), lines.join('\n'));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const outcome = await run(process.execPath, [tsc, '-p', folder]).catch(
      (error: { stdout: string }) => error,
    );
    expect(outcome.stdout).toBe('');
  });

  it(`adds less than ${largest} bytes to a page`, async () => {
    const entry = join(folder, 'node_modules/@kith/client/lib/index.js');
    const bundled = await build({
      entryPoints: [entry],
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    });
    const size = gzipSync(bundled.outputFiles[0]?.contents ?? '', { level: 9 }).length;
    process.stdout.write(`@kith/client: ${size} bytes minified and gzipped\n`);
    expect(size).toBeGreaterThan(1_000);
    expect(size).toBeLessThan(largest);
  });
});
