import { parseArgs } from 'node:util';
import { StartError } from '@kith/base/config';
import { CallError } from '../demo/api.ts';
import { type Command, type Given, type Surroundings, UsageError } from './command.ts';
import { commands } from './commands/index.ts';
import { helpOf, helpOfAll, listOf } from './help.ts';
import { version } from './version.ts';

/** Runs the command that the words name, and gives the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCommandLine(words: readonly string[], around: Surroundings): Promise<number> {
  const say = (sentence: string) => around.stderr.write(`kith: ${sentence}\n`);
  if (words[0] === '--version') {
    around.stdout.write(`kith ${version}\n`);
    return 0;
  }
  const isAsked = words[0] === 'help' || words.includes('--help') || words.includes('-h');
  const called = words[0] === 'help' ? words.slice(1) : words;
  const command = commands.find(({ name }) => startsWith(called, name));
  if (isAsked) {
    const help = command ? helpOf(command) : explain(called);
    if (help !== undefined) {
      around.stdout.write(help);
      return 0;
    }
  }
  if (!command) {
    const [first, ...others] = called;
    const group = groupOf(first);
    if (first === undefined) say('Name a command.');
    else if (group.length > 0 && others.length === 0) say(`Name a command of "kith ${first}".`);
    else say('There is no such command.');
    around.stderr.write(`${listOf(group.length > 0 ? group : commands)}\n\nSee kith --help.\n`);
    return 2;
  }
  let given: Given | undefined;
  try {
    given = read(command, words);
    return await command.run(given, around);
  } catch (error) {
    if (error instanceof UsageError) {
      say(`${error.message} See --help.`);
      return 2;
    }
    say(sentenceOf(error, given));
    return 1;
  }
}

function startsWith(words: readonly string[], name: string): boolean {
  return name.split(' ').every((word, at) => words[at] === word);
}

/** The commands whose first word this is. */
function groupOf(word: string | undefined): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

/** Help for no command, or for a group of them; nothing where the words name neither. */
function explain(words: readonly string[]): string | undefined {
  const [first] = words.filter((word) => !word.startsWith('-'));
  if (first === undefined) return helpOfAll(commands);
  const group = groupOf(first);
  return words[0] === first && group.length > 0 ? helpOfAll(group, first) : undefined;
}

function read(command: Command, words: readonly string[]): Given {
  const taken = command.words ?? [];
  try {
    const { values, positionals } = parseArgs({
      args: words.slice(command.name.split(' ').length),
      options: command.options,
      allowPositionals: true,
    });
    if (positionals.length > taken.length)
      throw new UsageError(`Unexpected argument: ${positionals[taken.length]}.`);
    const missing = taken[positionals.length];
    if (missing !== undefined) throw new UsageError(`Name the ${missing}.`);
    return { words: positionals, options: values };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${(error as Error).message.split('. ')[0]?.replace(/\.?$/, '.')}`);
  }
}

function sentenceOf(error: unknown, given: Given | undefined): string {
  if (error instanceof CallError) return answerOf(error, given);
  if (error instanceof StartError) return error.message;
  return error instanceof Error ? `${error.message} (${error.name})` : String(error);
}

function answerOf({ status, code, sentence, message }: CallError, given: Given | undefined): string {
  if (status === 401) return 'The operator’s token is not accepted.';
  const [word] = given?.words ?? [];
  const project = given?.options.project ?? word;
  if (code === 'project/not-found') return `There is no project ${project}.`;
  if (code === 'user/not-found') return `There is no user ${word} in the project ${project}.`;
  if (status < 500 && sentence) return `${asOption(sentence, given)} (${code})`;
  return `${message}.`;
}

/** A sentence about a field, by the option that gave it. */
function asOption(sentence: string, given: Given | undefined): string {
  const [field = ''] = sentence.split(':', 1);
  const option = field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return given?.options[option] === undefined ? sentence : `--${option}${sentence.slice(field.length)}`;
}
