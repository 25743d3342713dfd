import { StartError } from '@kith/base/config';
import { CallError, notFromKith } from '../demo/api.ts';
import { type Command, Failure, type Given, type Surroundings, textOf, UsageError } from './command.ts';
import { commands } from './commands/index.ts';
import { dataFolderIn, withResolvedPaths } from './data-folder.ts';
import { helpOf, helpOfAll, listOf } from './help.ts';
import { nearest } from './near.ts';
import { readWords } from './read-words.ts';
import { version } from './version.ts';

/** The environment and the streams of the process that `kith` runs in. */
export interface Terminal {
  env: NodeJS.ProcessEnv;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/**
 * Runs the command that the words of a command line name. Returns the exit code: 0 for done, 1 for failed, 2 for wrong usage, 3
 * if nothing is running. With `--json`, it writes the result to stdout as JSON, and an error to stderr as one JSON object.
 */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  const isJson = words.includes('--json');
  const { stdout, stderr } = terminal;
  const fail = ({ code, message, exitCode }: Failure, hint = '') => {
    stderr.write(isJson ? line({ error: { code, message } }) : `kith: ${message}${hint}\n`);
    return exitCode;
  };
  const explained = explain(words);
  if (explained !== undefined) {
    stdout.write(explained);
    return 0;
  }
  const command = find(words);
  if (!command) return failUnknown(words, fail);
  let given: Given | undefined;
  try {
    given = readWords(command, words.slice(command.name.split(' ').length));
    const around = surroundings(command, isJson, terminal);
    const { value, text, failure } = await command.run(given, around);
    if (!isJson) stdout.write(text);
    else stdout.write(command.isLong ? line({ event: 'done', ...value }) : pretty(value));
    return failure ? fail(failure) : 0;
  } catch (error) {
    return fail(failureOf(error, given), hintFor(command, error, terminal));
  }
}

function surroundings(
  command: Command,
  isJson: boolean,
  { env: given, stdout, stderr }: Terminal,
): Surroundings {
  const env = withResolvedPaths(given);
  return {
    env: { ...env, KITH_DATA: dataFolderIn(env) },
    commands,
    progress(message) {
      if (!isJson) stderr.write(`${message}\n`);
      else if (command.isLong) stdout.write(line({ event: 'progress', message }));
    },
  };
}

const line = (value: object) => `${JSON.stringify(value)}\n`;
const pretty = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

/** Finds the command that the first words name. */
function find(words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, at) => words[at] === word));
}

/** The commands whose names begin with this word. */
function groupOf(word: string | undefined): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

/** The version, or the help of a command, a group or all commands. `undefined` if the words ask for neither. */
function explain(words: readonly string[]): string | undefined {
  if (words[0] === '--version') return `kith ${version}\n`;
  const isHelp = words[0] === 'help';
  if (!isHelp && !words.includes('--help') && !words.includes('-h')) return undefined;
  const called = isHelp ? words.slice(1) : words;
  const command = find(called);
  if (command) return helpOf(command);
  const [first] = called.filter((word) => !word.startsWith('-'));
  if (first === undefined) return helpOfAll(commands);
  const group = groupOf(first);
  return called[0] === first && group.length > 0 ? helpOfAll(group, first) : undefined;
}

/** Fails, and names the command that was probably meant. If no command is similar, lists the possible commands. */
function failUnknown(words: readonly string[], fail: (error: Failure, hint: string) => number): number {
  const called = words[0] === 'help' ? words.slice(1) : words;
  const [first, second] = called.filter((word) => !word.startsWith('-'));
  const group = groupOf(first);
  const list = `\n${listOf(group.length > 0 ? group : commands)}\n\nSee kith --help.`;
  if (first === undefined) return fail(new UsageError('Name a command.'), list);
  if (second === undefined && group.length > 0)
    return fail(new UsageError(`Name a command of "kith ${first}".`), list);
  const meant = probablyMeant(first, second);
  if (!meant) return fail(new UsageError('There is no such command.'), list);
  return fail(new UsageError(`There is no such command. Did you mean kith ${meant}?`), ' See kith --help.');
}

function probablyMeant(first: string, second: string | undefined): string | undefined {
  const near = nearest(
    first,
    commands.map(({ name }) => name.split(' ')[0] ?? ''),
  );
  const seconds = groupOf(near).map(({ name }) => name.split(' ')[1] ?? '');
  const under = second === undefined ? undefined : nearest(second, seconds);
  if (under !== undefined) return `${near} ${under}`;
  return near === first ? undefined : near;
}

function hintFor({ name }: Command, error: unknown, { env }: Terminal): string {
  if (!(error instanceof UsageError)) return '';
  const help = ` See kith ${name} --help.`;
  // If somebody types `npm start --port 4000`, npm keeps `--port` for itself and passes only 4000 to the command. So this hint
  // says how to pass on an option.
  const isFromNpm = env.npm_lifecycle_event && env.npm_lifecycle_event !== 'npx';
  if (!isFromNpm || !error.message.startsWith('Unexpected argument')) return help;
  return ` npm passes on only options after two dashes.${help}`;
}

function failureOf(error: unknown, given: Given | undefined): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CallError) return new Failure(error.code, answerOf(error, given));
  if (error instanceof StartError) return new Failure('failed', error.message);
  return new Failure('failed', error instanceof Error ? `${error.message} (${error.name})` : String(error));
}

function answerOf({ status, code, sentence, message }: CallError, given: Given | undefined): string {
  if (code === notFromKith) return `${message}. Check the address: a proxy may have answered.`;
  if (status === 401) return 'The operator’s token is not accepted.';
  const [word] = given?.words ?? [];
  const project = (given && textOf(given, 'project')) ?? word;
  if (code === 'route/not-found')
    return `${sentence} If the platform has an ADMIN_PORT, name the address of this port with --url, and for kith demo the address of PORT with --public-url. (${code})`;
  if (code === 'project/not-found') return `There is no project ${project}.`;
  if (code === 'user/not-found') return `There is no user ${word} in the project ${project}.`;
  if (status < 500 && sentence) return `${asOption(sentence, given)} (${code})`;
  return `${message}.`;
}

/**
 * Takes a sentence that begins with the path of a field. If the user has set this field by an option, returns the sentence with
 * the option in place of the path. The names of field and option differ at most in their endings: `--web-origin` sets
 * `webOrigins`, `--project` sets `projectIds`, and `--expires` sets `expiresAt`. If one value of a list is wrong, the returned
 * sentence also shows this value.
 */
function asOption(sentence: string, given: Given | undefined): string {
  const [path = ''] = sentence.split(' ', 1);
  const [field = '', ...rest] = path.split('.');
  const name = field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const option = [name, name.replace(/(?:-ids|-at|s)$/, '')].find((one) => given?.options[one] !== undefined);
  if (option === undefined) return sentence;
  const value = given?.options[option];
  const part = Array.isArray(value) && rest.length === 1 ? value[Number(rest[0])] : rest.join('.');
  return `--${option}${part ? ` ${part}` : ''}${sentence.slice(path.length)}`;
}
