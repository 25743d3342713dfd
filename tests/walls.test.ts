import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { around, drivers, folders, packages, suites } from '../tools/walls/table.ts';
import { violationsOf } from '../tools/walls/violations.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const homes = Object.keys(packages);
const manifests = new Map<string, { name: string; exports: Record<string, string> }>(
  homes.map((home) => [home, JSON.parse(readFileSync(`${root}${home}/package.json`, 'utf8'))]),
);
/** All names under which a package can be imported: one for each entry in `exports` of its `package.json`. */
const namesOf = (home: string): string[] => {
  const { name = '', exports = {} } = manifests.get(home) ?? {};
  return Object.keys(exports).map((entry) => name + entry.slice(1));
};
const sentences = (files: Record<string, string>) =>
  violationsOf(new Map(Object.entries(files))).map(
    ({ file, line, sentence }) => `${file}:${line}: ${sentence}`,
  );
/** Follows `next` from each name. Returns the first circle that it finds. */
const circleOf = (next: (one: string) => readonly string[], all: readonly string[]) => {
  const done = new Set<string>();
  const walk = (one: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(one)) return [...path, one];
    if (done.has(one)) return undefined;
    for (const other of next(one)) {
      const found = walk(other, [...path, one]);
      if (found) return found;
    }
    done.add(one);
    return undefined;
  };
  for (const one of all) {
    const found = walk(one, []);
    if (found) return found;
  }
  return undefined;
};

describe('a package', () => {
  it('every package of this repository has a row', () => {
    const all = globSync('{libs,services,apps,tools}/*/src/index.ts', { cwd: root });
    expect(homes.toSorted()).toEqual(all.map((index) => dirname(dirname(index))).toSorted());
  });

  it.each(homes)('%s may import only the packages of this repository that are in its row', (home) => {
    const { may = [], instead = '' } = packages[home] ?? {};
    const file = `${home}/src/some.ts`;
    for (const name of homes.flatMap(namesOf)) {
      const found = sentences({ [file]: `import { one } from 'zod';\nimport { two } from '${name}';\n` });
      const refusal = `${file}:2: ${name} is not for ${home}. ${instead}`;
      expect(found).toEqual(may.includes(name) ? [] : [refusal]);
    }
  });

  it.each(homes)('%s has only existing packages and entries in its row', (home) => {
    const { may = [], suites: more = [] } = packages[home] ?? {};
    const names = homes.flatMap(namesOf);
    expect([...may, ...suites, ...more].filter((one) => !names.includes(one))).toEqual([]);
  });

  it('no package imports a package that imports it, directly or indirectly', () => {
    const next = (home: string) =>
      homes.filter((other) => namesOf(other).some((name) => packages[home]?.may.includes(name)));
    expect(circleOf(next, homes)).toBeUndefined();
  });

  it.each(homes)(
    '%s: its suites may import only the package itself, the packages in its row, the test kit, and the packages listed for suites',
    (home) => {
      const { may = [], suites: more = [], instead = '' } = packages[home] ?? {};
      const allowed = [...may, ...suites, ...more, ...namesOf(home)];
      for (const file of [`${home}/tests/some.test.ts`, `${home}/src/some.test.ts`]) {
        for (const name of homes.flatMap(namesOf)) {
          expect(sentences({ [file]: `import { one } from '${name}';` })).toEqual(
            allowed.includes(name) ? [] : [`${file}:1: ${name} is not for ${home}. ${instead}`],
          );
        }
      }
    },
  );

  it.each([...homes.map((home) => `${home}/tests`), ...Object.keys(around)])(
    'packages must also be imported by their names in %s',
    (folder) => {
      const file = `${folder}/some.test.ts`;
      const depth = '../'.repeat(folder.split('/').length);
      for (const home of homes.filter((one) => !folder.startsWith(`${one}/`))) {
        const way = `${depth}${home}/src/some.ts`;
        expect(sentences({ [file]: `import { x } from '${way}';` })).toEqual([
          `${file}:1: ${way} leaves ${folder.replace('/tests', '')}. Import a package by its name, and use only what it exports.`,
        ]);
      }
    },
  );

  it('a package must be imported by its name and not by a path, in every form of import', () => {
    const leaving = [
      "import { x } from '../../identity/src/app.ts';",
      "import type { X } from '../../identity/src/app.ts';",
      "export * from '../../identity/src/app.ts';",
      "const x = await import('../../identity/src/app.ts');",
    ];
    for (const text of leaving) {
      expect(sentences({ 'services/connections/src/some.ts': `\n${text}\n` })).toEqual([
        'services/connections/src/some.ts:2: ../../identity/src/app.ts leaves services/connections. Import a package by its name, and use only what it exports.',
      ]);
    }
  });

  it.each(drivers)('a package may import $name only if the table allows it', ({ name, only, instead }) => {
    const driver = name.endsWith('/') ? `${name}core` : name;
    for (const home of homes) {
      const file = `${home}/src/some.ts`;
      const refusal = `${file}:1: ${driver} is not for ${home}. ${instead}`;
      expect(sentences({ [file]: `import { x } from '${driver}';` })).toEqual(
        only.includes(home) ? [] : [refusal],
      );
    }
  });
});

describe.each(Object.entries(folders))('the folders of %s', (home, rooms) => {
  it('the folders may import each other only as the table says', () => {
    for (const [from, may] of Object.entries(rooms)) {
      for (const to of Object.keys(rooms).filter((one) => one !== from)) {
        const path = (room: string) => `${home}/src/${room && `${room}/`}`;
        const way = `${from === '' ? './' : '../'}${to && `${to}/`}other.ts`;
        const found = sentences({ [`${path(from)}some.ts`]: `import { x } from '${way}';` });
        if (may.includes(to)) expect(found).toEqual([]);
        else expect(found).toEqual([expect.stringContaining(`${from}/ of ${home} may not import`)]);
      }
    }
  });

  it('the folders import each other without a circle, if the files beside the folders are left out', () => {
    const named = Object.keys(rooms).filter((one) => one !== '');
    expect(circleOf((one) => (rooms[one] ?? []).filter((other) => other !== ''), named)).toBeUndefined();
  });

  it('a folder that is not in the table is refused', () => {
    const file = `${home}/src/unheard/some.ts`;
    expect(sentences({ [file]: "import { x } from '../other.ts';" })).toEqual([
      `${file}:1: unheard is not in the table of ${home}. Add it to tools/walls/table.ts.`,
    ]);
  });
});

it('files do not import each other in a circle, types included', () => {
  const text = (to: string) => `import type { X } from './${to}.ts';`;
  const file = (name: string) => `libs/bus/src/${name}.ts`;
  expect(sentences({ [file('a')]: text('b'), [file('b')]: text('c'), [file('c')]: text('d') })).toEqual([]);
  expect(sentences({ [file('a')]: text('b'), [file('b')]: text('c'), [file('c')]: text('a') })).toEqual([
    `${file('c')}:1: files import each other in a circle: ${['a', 'b', 'c', 'a'].map(file).join(' → ')}. Move what they share into a file of its own.`,
  ]);
  expect(sentences({ [file('a')]: text('a') })).toHaveLength(1);
});
