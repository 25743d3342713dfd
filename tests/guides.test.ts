import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { changed } from './support/follow-guide.ts';
import { type Block, readBlocks } from './support/guide.ts';

const root = new URL('../', import.meta.url);
const guides = await Promise.all(
  globSync('*.md', { cwd: fileURLToPath(new URL('docs', root)) })
    .toSorted()
    .map(async (guide) => [guide, await readBlocks(guide)] as const),
);
const blocks = guides.flatMap(([guide, of]) =>
  of.map((block) => ({ ...block, at: `docs/${guide}:${block.line}` })),
);
const inLanguage = (language: string) =>
  blocks.filter((block) => block.language === language).map((block) => [block.at, block] as const);

describe('the changes in a guide', () => {
  const changing = guides
    .map(([guide, of]) => [guide, of.filter(({ file }) => file !== undefined)] as const)
    .filter(([, of]) => of.length > 0);

  it.each(changing)(
    'the changes in docs/%s fit the files of this repository, and the changed files are valid',
    (guide, of) => {
      const files = new Map<string, string>();
      const contentOf = (file: string) => {
        const at = new URL(file, root);
        return files.get(file) ?? (existsSync(at) ? readFileSync(at, 'utf8') : undefined);
      };
      for (const block of of as (Block & { file: string })[])
        files.set(block.file, changed(contentOf(block.file), block, `docs/${guide}:${block.line}`));
      expect(files.size).toBeGreaterThan(0);
      for (const [file, content] of files)
        if (file.endsWith('.ts')) expect(() => stripTypeScriptTypes(content), file).not.toThrow();
    },
  );

  it('changes are found in the guide that adds an endpoint', () => {
    expect(changing.map(([guide]) => guide)).toContain('add-an-endpoint.md');
  });
});

describe('the blocks of guides can be parsed', () => {
  it('blocks of commands are valid for bash', () => {
    const commands = inLanguage('bash');
    expect(commands.length).toBeGreaterThan(10);
    const wrong = commands.flatMap(([at, { text }]) => {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
      return status === 0 ? [] : [`${at}: ${stderr}`];
    });
    expect(wrong).toEqual([]);
  });

  it.each(inLanguage('ts'))('the block is valid TypeScript: %s', (_, { text }) => {
    expect(() => stripTypeScriptTypes(text)).not.toThrow();
  });

  it.each(inLanguage('json').filter(([, { text }]) => !text.includes('…')))(
    'the block is valid JSON: %s',
    (_, { text }) => {
      expect(() => JSON.parse(text)).not.toThrow();
    },
  );

  it.each(inLanguage('jsonl'))('each line of the block is valid JSON: %s', (_, { text }) => {
    for (const line of text.trim().split('\n')) expect(() => JSON.parse(line), line).not.toThrow();
  });
});
