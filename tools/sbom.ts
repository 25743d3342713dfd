// `npm run sbom`: writes sbom.cdx.json from the lock file. This is the bill of materials (CycloneDX 1.6) of everything that
// Kith may need when it runs. With `--check`, it writes nothing, and fails if the result would differ. `npm run sbom --
// storage` prints the bill of an image, which is a part of the whole bill (tools/images/bill.ts).
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { billOf } from './images/bill.ts';
import { imageOf } from './images/image.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const maker = 'node_modules/@cyclonedx/cyclonedx-npm/bin/cyclonedx-npm-cli.js';
// The same lock file always gives the same bill, at any time and with any installed packages.
const words = [
  '--package-lock-only',
  '--omit',
  'dev',
  '--output-reproducible',
  '--short-PURLs',
  '--spec-version',
  '1.6',
];

const { status, stdout, stderr } = spawnSync(process.execPath, [maker, ...words], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
if (status !== 0) {
  console.error(stderr);
  process.exit(status ?? 1);
}
const made = `${JSON.stringify(JSON.parse(stdout))}\n`;
const file = new URL('../sbom.cdx.json', import.meta.url);
const [word] = process.argv.slice(2);
if (word && word !== '--check')
  console.log(JSON.stringify(billOf(JSON.parse(made), imageOf(root, word)), null, 2));
else if (!word) writeFileSync(file, made);
else if (made !== readFileSync(file, 'utf8')) {
  console.error('sbom.cdx.json differs from package-lock.json; run tools/sbom.ts');
  process.exit(1);
}
