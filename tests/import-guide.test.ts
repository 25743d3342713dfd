import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  importedCollection,
  importedConnection,
  importedEntity,
  importedFile,
  importedUser,
  importResult,
} from '@kith/contracts';
import { smallPng, startPlatform } from '@kith/testing';
import { expect, it } from 'vitest';
import { accessOf, runKith } from './support/command.ts';
import { readBlocks, shownAs } from './support/guide.ts';
import { importProgress } from './support/killed-import.ts';
import { kithWordsIn } from './support/kith-words.ts';

it('the commands of the import guide import the data of the guide, and print the output that the guide shows', async () => {
  const blocks = await readBlocks('import.md');
  const of = (language: string) => blocks.filter((block) => block.language === language);
  const [rows, [commands], [printed]] = [of('jsonl'), of('bash'), of('text')];
  const folder = await mkdtemp(join(tmpdir(), 'kith-guide-'));
  await using platform = await startPlatform();
  try {
    for (const [index, name] of ['users', 'connections', 'collections', 'entities', 'files'].entries()) {
      const text = rows[index]!.text.replace('$2b$10$…', `$2b$10$${'a'.repeat(53)}`);
      await writeFile(join(folder, `${name}.jsonl`), text);
    }
    await mkdir(join(folder, 'files'));
    await writeFile(join(folder, 'files/novel.txt'), 'Call me Ishmael.');
    await writeFile(join(folder, 'files/ada.png'), smallPng);
    const env = { ...accessOf(platform), KITH_CWD: folder };
    const [create = [], load = []] = kithWordsIn(commands!);
    const made = await runKith([...create, '--json'], env);
    const { id } = JSON.parse(made.stdout)[0];
    const said = await runKith(
      load.map((word) => (word === '4c4a…' ? id : word)),
      env,
    );
    expect([said.code, said.stderr]).toEqual([0, expect.stringMatching(importProgress)]);
    expect(said.stdout.trim()).toMatch(shownAs(printed!.text));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);

it('the import guide lists all fields of the rows and all reasons for rejections, and no others', async () => {
  const text = await readFile(new URL('../docs/import.md', import.meta.url), 'utf8');
  const namesIn = (section: string) => {
    const part = text.split(/^## /m).find((one) => one.startsWith(`${section}\n`)) ?? '';
    const cells = [...part.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) => [
      ...cell.matchAll(/`([^`]+)`/g),
    ]);
    return cells.map(([, name]) => name).toSorted();
  };
  const sections = {
    Users: importedUser,
    Connections: importedConnection,
    Collections: importedCollection,
    Entities: importedEntity,
    Files: importedFile,
  };
  for (const [section, { shape }] of Object.entries(sections))
    expect(namesIn(section), section).toEqual(Object.keys(shape).toSorted());
  expect(namesIn('Reasons')).toEqual(importResult.shape.rejected.element.shape.reason.options.toSorted());
});
