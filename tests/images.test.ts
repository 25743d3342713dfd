// Starts no platform and at most 1 process.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type ProcessName, serviceNames, services, storingNames } from '@kith/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { imageOf, lockOf } from '../tools/images/image.ts';
import { writeTree } from '../tools/images/write-tree.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));
const names: ProcessName[] = [...serviceNames, 'gateway'];
const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

/** Third-party packages that every image contains. They are needed by sources that every service loads. */
const ofAll = [
  ...['@nats-io/jetstream', '@nats-io/transport-node', 'pino', 'prom-client', 'zod'],
  ...['api', 'context-async-hooks', 'core', 'exporter-trace-otlp-proto', 'resources', 'sdk-trace'].map(
    (name) => `@opentelemetry/${name}`,
  ),
];

const undo = new AsyncDisposableStack();
let folder: string;
const treeOf = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-images-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  // Makes the content of the images in the same way as the Dockerfile.
  await run(process.execPath, ['tools/images.ts', folder, ...names], { cwd: root });
}, 120_000);
afterAll(() => undo.disposeAsync(), 60_000);

describe.each(names)('the image of %s', (name) => {
  it('contains no sources of other services', () => {
    expect(readdirSync(join(treeOf(name), 'services'))).toEqual([name]);
    expect(readdirSync(treeOf(name)).sort()).toEqual(
      ['LICENSE', 'libs', 'licences.txt', 'node_modules', 'sbom.cdx.json', 'services', 'tools'].sort(),
    );
    expect(globSync('{libs,services}/**/*.test.ts', { cwd: treeOf(name) })).toEqual([]);
  });

  it('contains only the packages that its service and its libraries use, and the packages that those packages need', () => {
    const config = services.find((one) => one.name === name)?.config.shape ?? {};
    const { dependencies } = json(join(root, 'services', name, 'package.json'));
    const expected = new Set([
      ...ofAll,
      ...Object.keys(dependencies).filter((one) => !one.startsWith('@kith/')),
      ...((storingNames as string[]).includes(name) ? ['mongodb'] : []),
      ...('STORAGE_URL' in config ? ['@aws-sdk/client-s3', '@aws-sdk/lib-storage'] : []),
    ]);
    const used = globSync('{libs,services}/*/package.json', { cwd: treeOf(name) }).flatMap((file) =>
      Object.keys(json(join(treeOf(name), file)).dependencies ?? {}).filter(
        (one) => !one.startsWith('@kith/'),
      ),
    );
    expect([...new Set(used)].sort()).toEqual([...expected].sort());
    expect(packagesIn(treeOf(name))).toEqual(neededIn(treeOf(name), `node_modules/@kith/${name}`));
  });

  it('lists its packages in its bill of materials, and in `licences.txt` with their licences', () => {
    const bill = json(join(treeOf(name), 'sbom.cdx.json'));
    expect(bill.metadata.component).toMatchObject({ type: 'container', name: `kith-${name}` });
    const listed = componentsOf(bill).map((one) => [one.path, one.version]);
    const held = packagesIn(treeOf(name)).map((path) => [
      path,
      json(join(treeOf(name), path, 'package.json')).version,
    ]);
    expect(listed.sort()).toEqual(held.sort());
    const refs = new Set([bill.metadata.component['bom-ref'], ...componentsOf(bill).map(({ ref }) => ref)]);
    for (const { ref, dependsOn = [] } of bill.dependencies) {
      for (const one of [ref, ...dependsOn]) expect(refs, one).toContain(one);
    }
    const licences = readFileSync(join(treeOf(name), 'licences.txt'), 'utf8');
    for (const [path = '', version] of held) {
      if (path.startsWith('node_modules/@kith/')) continue;
      const own = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      expect(licences.split('\n').filter((line) => line.startsWith(`${own} ${version}: `))).toHaveLength(1);
    }
    expect(licences).not.toMatch(/^\S+ \S+: none$/m);
    expect(licences).toContain('THE SOFTWARE IS PROVIDED "AS IS"');
  });
});

it('the bill of materials of an image names the components that CycloneDX finds in the same packages', async () => {
  const { lock } = imageOf(root, 'gateway', lockOf(root));
  const ours = Object.keys(lock.packages).filter((path) => !path.includes('node_modules/'));
  const own = { name: 'kith', version: '0.0.0', workspaces: ours };
  const cut = { ...lock, packages: { '': own, ...lock.packages } };
  const at = join(folder, 'cut');
  const files: Record<string, unknown> = { 'package.json': own, 'package-lock.json': cut };
  for (const path of ours)
    files[`${path}/package.json`] = json(join(treeOf('gateway'), path, 'package.json'));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(at, path)), { recursive: true });
    await writeFile(join(at, path), JSON.stringify(content));
  }
  const maker = join(root, 'node_modules/@cyclonedx/cyclonedx-npm/bin/cyclonedx-npm-cli.js');
  const words = [maker, '--package-lock-only', '--short-PURLs', '--spec-version', '1.6'];
  const { stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: at,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  expect(stdout, stderr).not.toBe('');
  const purls = (bill: object) =>
    componentsOf(bill)
      .map(({ purl }) => purl)
      .sort();
  expect(purls(JSON.parse(stdout))).toEqual(purls(json(join(treeOf('gateway'), 'sbom.cdx.json'))));
});

it('the content of an image cannot be determined if a source imports a package on which its own package does not depend', () => {
  const lock = structuredClone(lockOf(root));
  delete lock.packages['services/storage']?.dependencies?.sharp;
  expect(() => imageOf(root, 'storage', lock)).toThrow(
    /^services\/storage\/src\/.* imports sharp, but services\/storage\/package.json does not depend on it\.$/,
  );
});

it.each([
  { os: 'linux', cpu: process.arch === 'arm64' ? 'x64' : 'arm64', libc: 'glibc' },
  { os: 'linux', cpu: process.arch, libc: 'musl' },
  { os: process.platform === 'darwin' ? 'win32' : 'darwin', cpu: 'arm64' },
] as const)(
  'an image for $os, $cpu, $libc is not written from packages that were installed for another machine',
  (machine) => {
    const whole = json(join(root, 'sbom.cdx.json'));
    const write = (name: string) =>
      writeTree(imageOf(root, name, lockOf(root)), root, join(folder, 'other', name), whole, machine);
    const words = Object.entries(machine).map(([name, value]) => `--${name}=${value}`);
    const sentence = `is not installed: run npm ci ${words.join(' ')}.`;
    expect(() => write('storage')).toThrow(sentence);
    expect(existsSync(join(folder, 'other'))).toBe(false);
    // The packages of the crypto image run on every machine, so the content of this image can be written here.
    write('crypto');
    rmSync(join(folder, 'other'), { recursive: true });
  },
);

interface Listed {
  path: string;
  version: string;
  ref: string;
  purl: string;
}

/** All components of a bill of materials, including nested ones. */
function componentsOf({ components = [] }: { components?: object[] }): Listed[] {
  return components.flatMap((one) => {
    const { properties = [], ...rest } = one as { properties?: { name: string; value: string }[] } & Listed;
    const path = properties.find((property) => property.name === 'cdx:npm:package:path')?.value ?? '';
    return [{ ...rest, path, ref: (one as { 'bom-ref': string })['bom-ref'] }, ...componentsOf(one)];
  });
}

/** The packages in the `node_modules` of a tree, including nested ones. */
function packagesIn(tree: string, modules = 'node_modules'): string[] {
  if (!existsSync(join(tree, modules))) return [];
  const paths = readdirSync(join(tree, modules)).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(tree, modules, name)).map((own) => `${name}/${own}`) : [name],
  );
  const all = paths.flatMap((path) => {
    const at = `${modules}/${path}`;
    return [at, ...(path.startsWith('@kith/') ? [] : packagesIn(tree, `${at}/node_modules`))];
  });
  return all.sort();
}

/** A package in a tree, and all packages that it needs. Reads the manifests, and looks for each package where Node would look. */
function neededIn(tree: string, start: string): string[] {
  const found = new Set<string>();
  const need = (path: string) => {
    if (found.has(path)) return;
    found.add(path);
    const manifest = json(join(tree, path, 'package.json'));
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifest;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      let at = path;
      while (at !== '.' && !existsSync(join(tree, at, 'node_modules', name))) at = dirname(at);
      const needed = join(at, 'node_modules', name);
      if (existsSync(join(tree, needed))) need(needed);
      else expect({ ...optionalDependencies, ...peerDependenciesMeta }, path).toHaveProperty([name]);
    }
  };
  need(start);
  return [...found].sort();
}
