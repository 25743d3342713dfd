import type { Lock } from '../bootstrap/sizes.mjs';

/** Licences of packages that running Kith may need: they may go out with it. */
const ofRunning = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0'],
  ...['BlueOak-1.0.0', 'Unlicense', 'CC0-1.0'],
]);
/** Of packages that only working on Kith needs, which go nowhere. */
const ofWorking = new Set([...ofRunning, 'MPL-2.0', 'CC-BY-3.0', 'Python-2.0', 'PSF-2.0', 'WTFPL']);
/** Libraries that are loaded as files of their own, which anybody may replace: what the LGPL asks for. */
const replaceable = { licence: 'LGPL-3.0-or-later', packages: /^@img\/sharp-/ };
/** What older packages say of themselves in another way than the lock file reads. */
const known: Readonly<Record<string, string>> = {
  buildcheck: 'MIT',
  busboy: 'MIT',
  'cpu-features': 'MIT',
  ssh2: 'MIT',
  streamsearch: 'MIT',
};

/** A package of others, and how it is licensed. */
export interface Licensed {
  name: string;
  /** Where it lies. */
  path: string;
  version: string;
  licence: string;
  /** Whether only working on Kith needs it. */
  isDevelopment: boolean;
}

/** The packages of others in a lock file, in the order of their names. */
export function licencesIn({ packages }: Lock): Licensed[] {
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, entry]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const {
        version = '',
        dev = false,
        license = known[name] ?? 'none',
      } = entry as typeof entry & {
        license?: string;
      };
      return { name, path, version, licence: license, isDevelopment: dev };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Those whose licence is on no list. */
export function refusedLicences(packages: readonly Licensed[]): Licensed[] {
  return packages.filter((one) => !isAllowed(one));
}

/** Of an SPDX expression one alternative has to be allowed, and all of what stands in it. */
function isAllowed({ name, licence, isDevelopment }: Licensed): boolean {
  const allowed = isDevelopment ? ofWorking : ofRunning;
  const may = (id: string) =>
    allowed.has(id) || (id === replaceable.licence && replaceable.packages.test(name));
  const alternatives = licence.replaceAll(/[()]/g, '').split(' OR ');
  return alternatives.some((one) => one.split(' AND ').every(may));
}
