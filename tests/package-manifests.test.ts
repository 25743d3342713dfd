import { existsSync, globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { published, withDependencies } from '../tools/packages/manifest.ts';

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
  it('are the client, the testing package and what that needs', () => {
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
    '%s exports files that there are, and names what it imports',
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
});
