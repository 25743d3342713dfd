import { globSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type Block, shownAs } from './guide.ts';
import { startShell } from './shell.ts';

/**
 * Follows a guide in a folder, block by block: files are written and changed, commands run one after the other in one
 * shell, and what they print is compared with the `json` or `text` block behind them. Gives how many commands there were.
 */
export async function followGuide(
  guide: string,
  blocks: readonly Block[],
  options: { folder: string; env?: NodeJS.ProcessEnv },
): Promise<number> {
  await using shell = startShell(options);
  let commands = 0;
  for (const [index, block] of blocks.entries()) {
    const at = `docs/${guide}:${block.line}`;
    if (block.file) await change(join(options.folder, block.file), block, at);
    else if (block.language === 'bash') {
      const { output, code } = await shell.run(block.text);
      if (code !== 0) throw new Error(`${at} failed: ${output}\n${await logsIn(options.folder)}`);
      const next = blocks[index + 1];
      if (next && /^(json|text)$/.test(next.language)) {
        expect(output.trim(), `what ${at} prints`).toMatch(shownAs(next.text));
      }
      commands++;
    }
  }
  return commands;
}

/** What commands have written into log files, for the message of a failure. */
async function logsIn(folder: string): Promise<string> {
  const files = globSync('{.,.kith/*}/*.log', { cwd: folder });
  return (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
}

async function change(path: string, { language, text, isAtEnd }: Block, at: string): Promise<void> {
  if (language === 'diff') {
    const lines = text.split('\n').slice(0, -1);
    const side = (mark: string) =>
      lines.flatMap((line) => (line[0] === mark || line[0] === ' ' ? [`${line.slice(1)}\n`] : [])).join('');
    const [before, after] = [side('-'), side('+')];
    const content = await readFile(path, 'utf8');
    expect(content.split(before).length - 1, `${at}: how often its lines are in ${path}`).toBe(1);
    await writeFile(
      path,
      content.replace(before, () => after),
    );
  } else if (isAtEnd) await appendFile(path, text);
  else {
    await mkdir(dirname(path), { recursive: true });
    // A file that is there already is to be changed, not lost.
    await writeFile(path, text, { flag: 'wx' });
  }
}
