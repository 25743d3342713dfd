import type { z } from 'zod';
import type { Command, Option } from './command.ts';
import { optionsOf } from './read-words.ts';

/** The text of `kith --help`; with a group, the text of `kith <group> --help`. */
export function helpOfAll(commands: readonly Command[], group?: string): string {
  return `Usage: kith ${group ?? 'COMMAND'} … [OPTIONS]
       kith COMMAND --help    what a command does, and its options${group === undefined ? '\n       kith --version' : ''}

Commands:
${listOf(commands)}

${environment(commands).join('')}

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing is running.
`;
}

/** The commands, each on a line of its own. */
export function listOf(commands: readonly Command[]): string {
  return columns(commands.map(({ name, summary }) => [`kith ${name}`, summary]));
}

/** The text of `kith <command> --help`. */
export function helpOf(command: Command): string {
  const { name, summary, text, words = [], options } = command;
  const needed = Object.entries(options).flatMap(([option, of]) => (of.isNeeded ? called(option, of) : []));
  const usage = ['kith', name, ...words.map(({ value }) => value), ...needed, '[OPTIONS]'].join(' ');
  const lines = Object.entries(optionsOf(command)).map(([option, of]): [string, string] => [
    called(option, of),
    of.multiple ? `${of.text}; repeatable` : of.text,
  ]);
  const sentence = `${summary[0]?.toUpperCase()}${summary.slice(1)}.`;
  return `${[usage, text ?? sentence, columns(lines), ...environment([command])].join('\n\n')}\n`;
}

function called(name: string, { value, choices }: Option): string {
  const shown = choices?.join('|') ?? value;
  return shown ? `--${name} ${shown}` : `--${name}`;
}

function environment(commands: readonly Command[]): string[] {
  const variables = new Map(
    commands.flatMap(({ reads }) => Object.entries(reads.shape) as [string, z.ZodType][]),
  );
  const lines = [...variables].map(([name, field]): [string, string] => {
    const preset = field.safeParse(undefined).data;
    // The backticks of a description are only for the tables in the documentation, so they are left out here.
    const text = (field.description ?? '').replaceAll('`', '');
    return [name, `${preset ?? ''}` === '' ? text : `${text} (default ${preset})`];
  });
  return lines.length === 0
    ? []
    : [`Environment (set NAME_FILE to read the value of NAME from a file):\n${columns(lines)}`];
}

function columns(lines: readonly [string, string][]): string {
  const width = Math.max(...lines.map(([first]) => first.length));
  return lines.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`).join('\n');
}
