// `npm run licences`: lists the packages of others with their licences; `--check` only says which are on no list. A new licence
// is a decision: read it, and then add it in tools/packages/licences.ts.
import { readFileSync } from 'node:fs';
import { type Licensed, licencesIn, refusedLicences } from './packages/licences.ts';

const lockFile = new URL('../package-lock.json', import.meta.url);
const all = licencesIn(JSON.parse(readFileSync(lockFile, 'utf8')));
const refused = refusedLicences(all);
if (!process.argv.includes('--check')) for (const one of all) console.log(lineOf(one));
for (const one of refused) console.error(`No list allows the licence of ${lineOf(one)}`);
if (refused.length > 0) process.exitCode = 1;

function lineOf({ name, version, licence, isDevelopment }: Licensed): string {
  return `${name} ${version}: ${licence}${isDevelopment ? ' (development)' : ''}`;
}
