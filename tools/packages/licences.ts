import type { Lock } from '../bootstrap/sizes.mjs';

/** The allowed licences of packages that Kith may need when it runs. Such packages may be distributed with Kith. */
const ofRunning = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0'],
  ...['BlueOak-1.0.0', 'Unlicense', 'CC0-1.0'],
]);
/** The allowed licences of packages that only development needs. Such packages are not distributed. */
const ofWorking = new Set([...ofRunning, 'MPL-2.0', 'CC-BY-3.0', 'Python-2.0', 'PSF-2.0', 'WTFPL']);
/** Libraries that are loaded as separate files. So anybody can replace them, as the LGPL demands. */
const replaceable = { licence: 'LGPL-3.0-or-later', packages: /^@img\/sharp-/ };
/** The licences of older packages. These packages declare their licences in a form that the lock file does not contain. */
const known: Readonly<Record<string, string>> = {
  buildcheck: 'MIT',
  busboy: 'MIT',
  'cpu-features': 'MIT',
  ssh2: 'MIT',
  streamsearch: 'MIT',
};

/** A third-party package, and its licence. */
export interface Licensed {
  name: string;
  /** The package's path in the lock file. */
  path: string;
  version: string;
  licence: string;
  /** Whether the package is needed only for development. */
  isDevelopment: boolean;
}

/** The third-party packages in a lock file, sorted by name. */
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

/** The packages whose licence is not allowed for the packages' use (running or development). */
export function refusedLicences(packages: readonly Licensed[]): Licensed[] {
  return packages.filter((one) => !isAllowed(one));
}

/** Whether a package's licence is allowed. In an SPDX expression, all licences of at least one alternative have to be allowed. */
function isAllowed({ name, licence, isDevelopment }: Licensed): boolean {
  const allowed = isDevelopment ? ofWorking : ofRunning;
  const may = (id: string) =>
    allowed.has(id) || (id === replaceable.licence && replaceable.packages.test(name));
  const alternatives = licence.replaceAll(/[()]/g, '').split(' OR ');
  return alternatives.some((one) => one.split(' AND ').every(may));
}
