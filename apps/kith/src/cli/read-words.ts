import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type Command, type Given, isPath, type Option, UsageError, type Word } from './command.ts';
import { nearest } from './near.ts';

/** The options of a command, together with the options that every command has. */
export function optionsOf({ options, isLong }: Pick<Command, 'options' | 'isLong'>): Record<string, Option> {
  return {
    ...options,
    json: { text: isLong ? 'print progress and the result as lines of JSON' : 'print JSON' },
    help: { text: 'print this text' },
  };
}

/** Reads the words and options after a command's name. Throws `UsageError`. */
export function readWords(command: Command, words: readonly string[]): Given {
  const options = optionsOf(command);
  const given = parse(options, words);
  checkWords(command, given.words);
  for (const [name, option] of Object.entries(options)) checkOption(name, option, given.options[name]);
  return given;
}

function parse(options: Record<string, Option>, words: readonly string[]): Given {
  const config = Object.entries(options).map(([name, { value, choices, multiple = false }]) => {
    const type = value || choices ? 'string' : 'boolean';
    return [name, { type, multiple }] as const;
  });
  try {
    const parsed = parseArgs({
      args: [...words],
      options: Object.fromEntries(config) as NonNullable<ParseArgsConfig['options']>,
      allowPositionals: true,
    });
    return { words: parsed.positionals, options: parsed.values };
  } catch (error) {
    const sentence = (error as Error).message.split('. ')[0]?.replace(/\.?$/, '.') ?? '';
    const [, unknown = ''] = /^Unknown option '-+([^']*)'/.exec(sentence) ?? [];
    const near = nearest(unknown, Object.keys(options));
    throw new UsageError(unknown && near ? `${sentence} Did you mean --${near}?` : sentence);
  }
}

function checkWords({ words: taken = [] }: Command, given: readonly string[]): void {
  const extra = given[taken.length];
  if (extra !== undefined) throw new UsageError(`Unexpected argument: ${extra}.`);
  for (const [at, word] of taken.entries()) {
    const { what, choices } = word;
    if (!isNamed(given[at], word))
      throw new UsageError(`Name the ${what}${choices ? `: one of ${choices.join(', ')}` : ''}.`);
  }
}

function isNamed(text: string | undefined, word: Word): boolean {
  if (!text || (word.choices && !word.choices.includes(text))) return false;
  return isPath(word) || !dots.includes(text);
}

/** Words that an address cannot contain as a segment: the address `/projects/one/..` is the address `/projects`. */
const dots: readonly unknown[] = ['.', '..'];

/** The values that name a place or a thing. */
const naming: readonly (string | undefined)[] = ['FILE', 'FOLDER', 'URL', 'ID'];

function checkOption(
  name: string,
  { value: kind, choices, isNeeded }: Option,
  value: Given['options'][string],
): void {
  if (isNeeded && !value) throw new UsageError(`--${name} is needed.`);
  const texts = [value].flat();
  // In a script, a variable that was forgotten gives an empty text. If the empty text counted as absent, a backup would not be
  // sealed, or a command would go to another platform.
  if (texts.includes('') && naming.includes(kind)) throw new UsageError(`--${name} is empty.`);
  if (kind === 'ID' && texts.some((text) => dots.includes(text)))
    throw new UsageError(`--${name} must be an id.`);
  if (choices && value !== undefined && !choices.includes(value as string))
    throw new UsageError(`--${name} must be ${choices.join(' or ')}.`);
}
