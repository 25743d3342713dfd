// Starts no platform and at most 3 processes.
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { published, withDependencies } from '../tools/packages/manifest.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));
const packages = withDependencies(root, ['client', 'testing']);

/** The packages that the sources of a package import, without Node's own modules. */
function importedBy(folder: string): string[] {
  const files = globSync(`${folder}/src/**/*.{ts,js}`, { cwd: root, exclude: ['**/*.test.ts'] });
  const names = files.flatMap((file) =>
    [...readFileSync(`${root}${file}`, 'utf8').matchAll(/\b(?:from|import\(?) ?'(@?[a-z][\w./:-]*)'/g)].map(
      ([, specifier = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier,
    ),
  );
  return [...new Set(names)].filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
}

describe('the packages that are published', () => {
  it('the client and the testing package are published, and so is every package that the testing package needs', () => {
    expect(packages.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'client',
        'testing',
        'platform',
        'service',
        'contracts',
        'gateway',
        'identity',
      ]),
    );
  });

  it.each(packages.map((one) => [one.manifest.name, one] as const))(
    '%s exports existing files, and lists the packages that it imports',
    (name, { folder, manifest }) => {
      const {
        exports,
        dependencies = {},
        ...rest
      } = published(manifest) as ReturnType<typeof published> & {
        dependencies?: Record<string, string>;
      };
      expect(rest).not.toHaveProperty('private');
      expect(exports).toHaveProperty(['.'], { types: './lib/index.d.ts', default: './lib/index.js' });
      for (const source of Object.values(manifest.exports))
        expect(existsSync(`${root}${folder}/${source}`), `${name}: ${source}`).toBe(true);
      const needed = importedBy(folder).filter((one) => one !== name);
      // Some packages are needed only with a certain setting. An operator who uses that setting installs them.
      const optional = (manifest as { peerDependencies?: object }).peerDependencies ?? {};
      expect(needed.filter((one) => !(one in dependencies) && !(one in optional))).toEqual([]);
      // Our packages depend on exact versions of each other, because all are released together.
      for (const [one, range] of Object.entries(dependencies)) {
        if (one.startsWith('@kith/')) expect(range, one).toBe(manifest.version);
      }
    },
  );

  it('the commands of the guides make the client a dependency and the testing package a development dependency', async () => {
    await using temporary = await mkdtempDisposable(join(tmpdir(), 'kith-install-'));
    const application = join(temporary.path, 'my-app');
    const write = async (folder: string, content: object) => {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'package.json'), JSON.stringify(content));
    };
    await write(application, { name: 'my-app', version: '1.0.0' });
    const version = '1.0.0';
    // Empty packages are enough, because the test only checks to which list of dependencies npm adds them.
    const client = join(temporary.path, 'client');
    const testing = join(temporary.path, 'testing');
    await write(client, { name: '@kith/client', version });
    await write(testing, { name: '@kith/testing', version, dependencies: { '@kith/client': version } });
    await run('npm', ['pack', '--silent', client, testing], { cwd: application });

    const env = { ...process.env, npm_config_offline: 'true', npm_config_audit: 'false' };
    for (const guide of ['libs/client', 'apps/testing']) {
      const text = await readFile(join(root, guide, 'README.md'), 'utf8');
      const lines = text.split('\n').filter((line) => /\bnpm install\b.*\.tgz$/.test(line));
      const script = lines.map((line) => line.replace('cd ../my-app && ', '')).join('\n');
      await run('sh', ['-ec', script], { cwd: application, env });
    }
    const { dependencies, devDependencies } = JSON.parse(
      await readFile(join(application, 'package.json'), 'utf8'),
    );
    expect([dependencies, devDependencies].map((one) => Object.keys(one ?? {}))).toEqual([
      ['@kith/client'],
      ['@kith/testing'],
    ]);
  });
});
