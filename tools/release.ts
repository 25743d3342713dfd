// `npm run release`: turns the changesets into a release. Writes the new version into every package, the lock file, the root and
// the OpenAPI document. Writes the changesets' texts into a new section of CHANGELOG.md. You still have to review, commit, tag and
// publish.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const write = (file: string, text: string) => writeFileSync(new URL(`../${file}`, import.meta.url), text);
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const titles = { major: 'What breaks', minor: 'What is new', patch: 'What is mended' } as const;
type Bump = keyof typeof titles;
/**
 * Before 1.0.0, a minor version may break something. If a change does so, the text of its changeset begins with these words.
 */
const breaking = titles.major;

const changes = globSync('.changeset/*.md', { cwd: root })
  .filter((file) => !file.endsWith('README.md'))
  .toSorted()
  .map((file) => parse(file, read(file)));
if (changes.length === 0) {
  console.error('There is nothing to release: no changeset exists.');
  process.exit(1);
}

const changesets = 'node_modules/@changesets/cli/bin.js';
const { status } = spawnSync(process.execPath, [changesets, 'version'], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
const { version } = JSON.parse(read('libs/contracts/package.json')) as { version: string };

write('package.json', json({ ...JSON.parse(read('package.json')), version }));
const lock = JSON.parse(read('package-lock.json'));
lock.version = version;
for (const [path, entry] of Object.entries<{ version?: string }>(lock.packages)) {
  if (!path.startsWith('node_modules/') && entry.version) entry.version = version;
}
write('package-lock.json', json(lock));

// The OpenAPI document also contains the version.
const document = spawnSync(process.execPath, ['tools/openapi.ts'], { cwd: root, stdio: 'inherit' });
if (document.status !== 0) process.exit(document.status ?? 1);

// Images contain the version in their bills of materials and labels.
for (const script of ['tools/sbom.ts', 'tools/deployment.ts']) {
  const made = spawnSync(process.execPath, [script], { cwd: root, stdio: 'inherit' });
  if (made.status !== 0) process.exit(made.status ?? 1);
}

const parts = (Object.keys(titles) as Bump[]).flatMap((part) => {
  const own = changes.filter((change) => change.part === part);
  return own.length > 0 ? [`### ${titles[part]}\n\n${own.map(({ text }) => text).join('\n')}\n`] : [];
});
const [head = '', ...earlier] = read('CHANGELOG.md').split(/^(?=## )/m);
write('CHANGELOG.md', [head, `## ${version}\n\n${parts.join('\n')}\n`, ...earlier].join(''));
console.log(`${version}: ${changes.length} changes`);

/** The part of the changelog to which a changeset belongs, and the changeset's text as an item of a list. */
function parse(file: string, content: string): { part: Bump; text: string } {
  const [, front = '', text = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(content) ?? [];
  const bump = (Object.keys(titles) as Bump[]).find((one) => new RegExp(`: ['"]?${one}\\b`).test(front));
  if (!bump || !text.trim()) throw new Error(`${file} must name a package and describe the change.`);
  const part = text.trim().startsWith(breaking) ? 'major' : bump;
  return { part, text: `- ${text.trim().replaceAll('\n', '\n  ')}` };
}
