import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commands } from '@kith/platform/cli';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const linksOf = (file: string) =>
  [...read(file).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].flatMap(([, link = '']) =>
    /^[a-z]+:/.test(link) ? [] : [join(dirname(file), decodeURI(link))],
  );

it('docs/README.md has a link to every guide and every decision', () => {
  const all = globSync(['docs/*.md', 'docs/adr/*.md'], { cwd: root }).filter(
    (file) => file !== 'docs/README.md',
  );
  expect(all.length).toBeGreaterThan(20);
  expect(all.filter((file) => !linksOf('docs/README.md').includes(file))).toEqual([]);
});

it.each(
  globSync(['*.md', 'docs/**/*.md', '{libs,services,apps}/*/README.md', 'examples/**/README.md'], {
    cwd: root,
    exclude: (name) => name.includes('node_modules'),
  }),
)('the links of %s lead to existing files', (file) => {
  expect(linksOf(file).filter((link) => !existsSync(join(root, link)))).toEqual([]);
});

it('the table in apps/kith/README.md has every command of kith', () => {
  const rows = [...read('apps/kith/README.md').matchAll(/^\| (`.*?`) \| /gm)].map(([, cell = '']) => cell);
  // If the first command of a row begins with a group, the other commands of the row belong to this group, too. For example,
  // the row `projects create`, `list` has the commands `projects create` and `projects list`.
  const listed = rows.flatMap((cell) => {
    const [first = '', ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    const [group, second] = first.split(' ');
    return [first, ...others.map((name) => (second ? `${group} ${name}` : name))];
  });
  expect(commands.map(({ name }) => name).filter((name) => !listed.includes(name))).toEqual([]);
});
