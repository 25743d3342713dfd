import { existsSync, globSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type Block, shownAs } from './guide.ts';
import { startShell } from './shell.ts';

/**
 * Follows a guide in a folder, block by block. Writes and changes files. Runs all blocks of commands in one shell, one after the
 * other. If a `json` or `text` block follows, compares it with the output of the commands. Returns how many blocks of commands there
 * were.
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

/** The content of the log files that commands have written, for the message of a failure. */
async function logsIn(folder: string): Promise<string> {
  const files = globSync('{.,.kith/*}/*.log', { cwd: folder });
  return (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
}

async function change(path: string, block: Block, at: string): Promise<void> {
  const before = existsSync(path) ? await readFile(path, 'utf8') : undefined;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, changed(before, block, at));
}

/** The content of a file after a block has changed it. `content` is `undefined` if the file does not exist yet. */
export function changed(content: string | undefined, block: Block, at: string): string {
  const { language, text, isAtEnd, file } = block;
  if (language === 'diff') {
    const lines = text.split('\n').slice(0, -1);
    const side = (mark: string) =>
      lines.flatMap((line) => (line[0] === mark || line[0] === ' ' ? [`${line.slice(1)}\n`] : [])).join('');
    const [before, after] = [side('-'), side('+')];
    expect((content ?? '').split(before).length - 1, `${at}: how often its lines are in ${file}`).toBe(1);
    return (content ?? '').replace(before, () => after);
  }
  // A block with a whole file is allowed only if the file does not exist yet. A block that is added at the end of a file needs
  // an existing file.
  expect(content !== undefined, `${at}: whether there is ${file} already`).toBe(isAtEnd);
  return (content ?? '') + text;
}
