import { parseArgs } from 'node:util';
import { CallError } from '@kith/platform';
import { StartError } from '@kith/service';
import { type Command, type Given, type Surroundings, UsageError } from './command.ts';
import { commands } from './commands/index.ts';

/** Runs the command that the words name, and gives the exit code: 0 done, 1 failed, 2 called in a wrong way. */
export async function runCommandLine(words: readonly string[], around: Surroundings): Promise<number> {
  const say = (sentence: string) => around.stderr.write(`kith: ${sentence}\n`);
  try {
    const command = commands.find(({ name }) => startsWith(words, name));
    if (!command) return explainAll(words, around);
    if (words.includes('--help') || words.includes('-h')) {
      around.stdout.write(`${command.help}\n`);
      return 0;
    }
    return await command.run(read(command, words), around);
  } catch (error) {
    if (error instanceof UsageError) {
      say(`${error.message} See --help.`);
      return 2;
    }
    say(sentenceOf(error));
    return 1;
  }
}

function startsWith(words: readonly string[], name: string): boolean {
  return name.split(' ').every((word, at) => words[at] === word);
}

function explainAll(words: readonly string[], around: Surroundings): number {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  kith ${name.padEnd(width)}  ${summary}`);
  const isAsked = ['--help', '-h', 'help'].includes(words[0] ?? '');
  const text = `${lines.join('\n')}\n\nEach of them says more with --help.\n`;
  if (isAsked) around.stdout.write(text);
  else
    around.stderr.write(
      `kith: ${words.length === 0 ? 'Say what to do.' : 'There is no such command.'}\n${text}`,
    );
  return isAsked ? 0 : 2;
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
      throw new UsageError(`${positionals[taken.length]} is one word too many.`);
    const missing = taken[positionals.length];
    if (missing !== undefined) throw new UsageError(`The ${missing} is missing.`);
    return { words: positionals, options: values };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${(error as Error).message.split('. ')[0]?.replace(/\.?$/, '.')}`);
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof CallError && error.status === 401) return 'The operator’s token is not accepted.';
  if (error instanceof CallError && error.status === 404) return `There is no such thing (${error.code}).`;
  if (error instanceof CallError || error instanceof StartError) return error.message;
  return error instanceof Error ? `${error.message} (${error.name})` : String(error);
}
