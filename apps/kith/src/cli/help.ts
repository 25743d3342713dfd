import type { z } from 'zod';
import type { Command } from './command.ts';

/** What `kith --help` says, or `kith <group> --help` with the commands of a group. */
export function helpOfAll(commands: readonly Command[], group?: string): string {
  return `Usage: kith ${group ?? 'COMMAND'} … [OPTIONS]
       kith COMMAND --help    what a command does, and its options${group === undefined ? '\n       kith --version' : ''}

Commands:
${listOf(commands)}

${environment(commands)}

Exit codes: 0 done, 1 failed, 2 wrong usage.
`;
}

/** The commands, a line each. */
export function listOf(commands: readonly Command[]): string {
  return columns(commands.map(({ name, summary }) => [`kith ${name}`, summary]));
}

/** What `kith <command> --help` says. */
export function helpOf(command: Command): string {
  return `${command.help}\n\n${environment([command])}\n`;
}

function environment(commands: readonly Command[]): string {
  const variables = new Map(
    commands.flatMap(({ reads }) => Object.entries(reads.shape) as [string, z.ZodType][]),
  );
  const lines = [...variables].map(([name, field]): [string, string] => {
    const preset = field.safeParse(undefined).data;
    // A code span is for tables in documents.
    const text = (field.description ?? '').replaceAll('`', '');
    return [name, preset === undefined ? text : `${text} (default ${preset})`];
  });
  return `Environment (set NAME_FILE to read the value of NAME from a file):\n${columns(lines)}`;
}

function columns(lines: readonly [string, string][]): string {
  const width = Math.max(...lines.map(([first]) => first.length));
  return lines.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`).join('\n');
}
