// Builds the named packages for npm, and those of our packages that they depend on. For example, `tools/build-packages.ts
// testing` compiles apps/testing into apps/testing/dist. That folder is then a complete package for `npm publish
// apps/testing/dist`. The same happens to all packages of ours that apps/testing depends on. `--out <folder>` builds into this
// folder instead, where each package gets a folder with its name.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Package, published, withDependencies } from './packages/manifest.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true });
if (positionals.length === 0) {
  console.error('Name the packages, for example: npm run build:packages -- client');
  process.exit(2);
}
const packages = withDependencies(root, positionals);
const cache = join(root, 'node_modules/.cache');
mkdirSync(cache, { recursive: true });
const scratch = mkdtempSync(join(cache, 'kith-build-'));
try {
  compile(packages);
  for (const one of packages) assemble(one);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Compiles all packages together into the scratch folder, at the same places as in the repository. */
function compile(of: readonly Package[]): void {
  const config = join(scratch, 'tsconfig.json');
  const compilerConfig = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rootDir: root,
      outDir: join(scratch, 'out'),
      // Recent browsers and Node 20 run ES2022 without further compilation.
      target: 'es2022',
    },
    include: of.map(({ folder }) => join(root, folder, 'src')),
    exclude: of.map(({ folder }) => join(root, folder, 'src/**/*.test.ts')),
  };
  writeFileSync(config, JSON.stringify(compilerConfig));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', config], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The packages cannot be compiled; see the output above.');
}

/**
 * Assembles a package. Its compiled code is in `lib`. The package's sources read some files from the folder above them. These
 * files are put beside `lib`.
 */
function assemble({ name, folder, manifest }: Package): void {
  const from = join(root, folder);
  const out = values.out ? join(resolve(values.out), name) : join(from, 'dist');
  rmSync(out, { recursive: true, force: true });
  cpSync(join(scratch, 'out', folder, 'src'), join(out, 'lib'), { recursive: true });
  for (const file of globSync('**/*.{html,css,js,json}', { cwd: join(from, 'src') })) {
    cpSync(join(from, 'src', file), join(out, 'lib', file));
  }
  for (const file of ['README.md', ...(manifest.files ?? [])]) {
    if (existsSync(join(from, file))) cpSync(join(from, file), join(out, file), { recursive: true });
  }
  cpSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`);
  console.log(`${manifest.name}@${manifest.version} is built in ${out}`);
}
