import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { extras, neededBy } from '../tools/bootstrap/sizes.mjs';
import { licencesIn, refusedLicences } from '../tools/packages/licences.ts';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const lock = JSON.parse(read('package-lock.json'));

it('every package has an accepted licence', () => {
  const all = licencesIn(lock);
  expect(all.length).toBeGreaterThan(200);
  expect(refusedLicences(all)).toEqual([]);
});

it('an unknown licence, a licence that is accepted only for development, and a missing licence are refused', () => {
  const refused = (license: string | undefined, more: object = {}, path = 'node_modules/thing') =>
    refusedLicences(licencesIn({ packages: { [path]: { version: '1.0.0', license, ...more } as object } }))
      .length === 1;
  expect(refused('MIT')).toBe(false);
  expect(refused('(GPL-2.0 OR MIT)')).toBe(false);
  expect(refused('MPL-2.0', { dev: true })).toBe(false);
  expect(refused('LGPL-3.0-or-later', {}, 'node_modules/@img/sharp-linux-x64')).toBe(false);
  for (const license of [
    'GPL-3.0',
    'MIT AND GPL-3.0',
    'MPL-2.0',
    'LGPL-3.0-or-later',
    'UNLICENSED',
    undefined,
  ])
    expect(refused(license)).toBe(true);
  expect(refused('AGPL-3.0', { dev: true })).toBe(true);
});

it('the bill of materials names every package that is needed to run Kith, with its version', () => {
  const bill = JSON.parse(read('sbom.cdx.json'));
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
  interface Component {
    name: string;
    group?: string;
    version: string;
    purl?: string;
    components?: Component[];
  }
  const listed = new Map<string, Component>();
  const add = (components: Component[] = []) => {
    for (const one of components) {
      listed.set(`${one.group ? `${one.group}/` : ''}${one.name}@${one.version}`, one);
      add(one.components);
    }
  };
  add(bill.components);
  const needed = [...neededBy(lock.packages, ['@kith/platform'], extras.containers?.names)];
  const others = needed.filter((path) => path.includes('node_modules/') && !lock.packages[path].link);
  expect(others.length).toBeGreaterThan(100);
  for (const path of others) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    // Most optional packages are built for one kind of machine. npm leaves out those for other machines, so the bill may lack
    // them.
    if (lock.packages[path].optional) continue;
    expect(listed.get(`${name}@${lock.packages[path].version}`)?.purl, name).toContain('pkg:npm/');
  }
});

it('no package runs a script when it is installed, and images name the licences of their content', () => {
  expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
  const dockerfile = read('Dockerfile');
  const labels = dockerfile.match(/(?<=org\.opencontainers\.image\.licenses=").*(?=")/g) ?? [];
  expect(labels.length).toBe(dockerfile.match(/^FROM service AS |^FROM base AS setup$/gm)?.length);
  for (const label of labels)
    expect(label.split(' AND ')).toEqual(expect.arrayContaining(['Apache-2.0', 'MIT']));
  expect(dockerfile).toContain('dev.kith.sbom="/app/sbom.cdx.json"');
  expect(read('.dockerignore')).not.toMatch(/sbom|\*\.json/);
});
