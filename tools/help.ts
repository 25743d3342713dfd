// Writes tools/bootstrap/help.txt, the `--help` texts of the command line and of the example. With this file, printing help
// needs neither packages nor Node 24. With `--check`, it writes nothing, and fails if the result would differ.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { commands, runCommandLine } from '@kith/platform/cli';
import { commandLine } from './bootstrap/sizes.mjs';

const example = 'tools/example.ts';

const names = commands.map(({ name }) => name);
const groups = new Set(names.flatMap((name) => (name.includes(' ') ? [name.split(' ', 1)[0] ?? ''] : [])));
const parts: string[] = [];
for (const name of ['', ...groups, ...names]) {
  parts.push(`=== ${`${commandLine} ${name}`.trim()}\n${await commandHelp(name)}`);
}
parts.push(`=== ${example}\n${execFileSync(process.execPath, [example, '--help'], { encoding: 'utf8' })}`);

const file = new URL('bootstrap/help.txt', import.meta.url);
const text = parts.join('');
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (text !== readFileSync(file, 'utf8')) {
  console.error('tools/bootstrap/help.txt differs from what --help says; run tools/help.ts');
  process.exit(1);
}

async function commandHelp(name: string): Promise<string> {
  const written: string[] = [];
  const stream = { write: (line: string) => written.push(line) };
  const words = [...name.split(' ').filter(Boolean), '--help'];
  await runCommandLine(words, { env: {}, stdout: stream, stderr: stream });
  return written.join('');
}
