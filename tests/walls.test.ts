import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { drivers, folders, packages } from '../tools/walls/table.ts';
import { violationsOf } from '../tools/walls/violations.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const nameOf = (home: string): string => JSON.parse(readFileSync(`${root}${home}/package.json`, 'utf8')).name;
const sentences = (files: Record<string, string>) =>
  violationsOf(new Map(Object.entries(files))).map(
    ({ file, line, sentence }) => `${file}:${line}: ${sentence}`,
  );

describe('a package', () => {
  const homes = Object.keys(packages);

  it.each(homes)('%s imports no package of ours but those of its row', (home) => {
    const { may = [], instead = '' } = packages[home] ?? {};
    const file = `${home}/src/some.ts`;
    for (const other of homes) {
      const name = nameOf(other);
      const found = sentences({ [file]: `import { one } from 'zod';\nimport { two } from '${name}';\n` });
      const refusal = `${file}:2: ${name} is not for ${home}. ${instead}`;
      expect(found).toEqual(may.includes(name) ? [] : [refusal]);
    }
  });

  it('is imported by its name, however the import is written', () => {
    const leaving = [
      "import { x } from '../../identity/src/app.ts';",
      "import type { X } from '../../identity/src/app.ts';",
      "export * from '../../identity/src/app.ts';",
      "const x = await import('../../identity/src/app.ts');",
    ];
    for (const text of leaving) {
      expect(sentences({ 'services/connections/src/some.ts': `\n${text}\n` })).toEqual([
        'services/connections/src/some.ts:2: ../../identity/src/app.ts leaves services/connections: a package is imported by its name, and what it exports is all there is.',
      ]);
    }
  });

  it.each(drivers)('that is not to know $name does not import it', ({ name, only, instead }) => {
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
  it('import each other as the table says', () => {
    for (const [from, may] of Object.entries(rooms)) {
      for (const to of Object.keys(rooms).filter((one) => one !== from)) {
        const path = (room: string) => `${home}/src/${room && `${room}/`}`;
        const way = `${from === '' ? './' : '../'}${to && `${to}/`}other.ts`;
        const found = sentences({ [`${path(from)}some.ts`]: `import { x } from '${way}';` });
        if (may.includes(to)) expect(found).toEqual([]);
        else expect(found).toEqual([expect.stringContaining(`${from}/ of ${home} does not import`)]);
      }
    }
  });

  it('are all in the table', () => {
    const file = `${home}/src/unheard/some.ts`;
    expect(sentences({ [file]: "import { x } from '../other.ts';" })).toEqual([
      `${file}:1: unheard is not in the table of ${home} (tools/walls/table.ts).`,
    ]);
  });
});

it('files do not import each other in a circle, types included', () => {
  const text = (to: string) => `import type { X } from './${to}.ts';`;
  const file = (name: string) => `libs/bus/src/${name}.ts`;
  expect(sentences({ [file('a')]: text('b'), [file('b')]: text('c'), [file('c')]: text('d') })).toEqual([]);
  expect(sentences({ [file('a')]: text('b'), [file('b')]: text('c'), [file('c')]: text('a') })).toEqual([
    `${file('c')}:1: files import each other in a circle: ${['a', 'b', 'c', 'a'].map(file).join(' → ')}. What both need goes into a file of its own.`,
  ]);
  expect(sentences({ [file('a')]: text('a') })).toHaveLength(1);
});
