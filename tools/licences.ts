// `npm run licences`: lists third-party packages with their licences. With the name of an image (`npm run licences -- storage`),
// it lists only the packages in this image. With `--check`, it lists nothing, and only reports licences that are not allowed.
// Accepting a new licence is a decision: read the licence, and then add it in tools/packages/licences.ts.
import { fileURLToPath } from 'node:url';
import { imageOf, lockOf } from './images/image.ts';
import { lineOf } from './images/notices.ts';
import { licencesIn, refusedLicences } from './packages/licences.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const image = process.argv.slice(2).find((word) => !word.startsWith('-'));
const all = licencesIn(image ? imageOf(root, image).lock : lockOf(root));
const refused = refusedLicences(all);
if (!process.argv.includes('--check')) for (const one of all) console.log(lineOf(one));
for (const one of refused) console.error(`No list allows the licence of ${lineOf(one)}`);
if (refused.length > 0) process.exitCode = 1;
