import type { z } from 'zod';

/** What a command uses in addition to its words, and where it reports its progress. */
export interface Surroundings {
  /** The environment variables. One of these variables is KITH_DATA, the absolute path of the data folder. */
  env: NodeJS.ProcessEnv;
  /** All commands, for help and completion. */
  commands: readonly Command[];
  /** Shows a line to people. With `--json`, only commands with `isLong` show lines. */
  progress(line: string): void;
}

/** The words and options that were given on the command line. */
export interface Given {
  /** The words that follow the command's name and are not options. */
  words: readonly string[];
  options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
}

/** An option of a command. The option's name is its key in {@link Command.options}. */
export interface Option {
  /** The description that `--help` and completion show. */
  text: string;
  /**
   * The placeholder of the value in `--help`. For FILE and FOLDER, the shell completes paths. An option without a placeholder is a
   * switch.
   */
  value?: string;
  /** All values that the option accepts. */
  choices?: readonly string[];
  isNeeded?: boolean;
  /** Whether the option may be given more than once. */
  multiple?: boolean;
}

/** A word that has to follow the command's name, for example an id. */
export interface Word {
  /** The word's placeholder, as in {@link Option}. */
  value: string;
  /** The word's name in error messages, as in "Name the project id." */
  what: string;
  choices?: readonly string[];
}

/** Whether an option or word is the path of a file or folder. */
export function isPath(one: Pick<Option | Word, 'value'> | undefined): boolean {
  return one?.value === 'FILE' || one?.value === 'FOLDER';
}

/** What a command reports when it has ended. */
export interface Result {
  /** The value that the command prints with `--json`. */
  value: object;
  /** The text that the command prints without `--json`. */
  text: string;
  /** Set if the command has a result, but its exit code is not 0. Printed after the result. */
  failure?: Failure | undefined;
}

/** One command, defined in a file of `commands/`. Help, completion and the parser of the command line use this definition. */
export interface Command {
  /** The words that call the command, for example `projects create`. */
  name: string;
  /** A short description, for the list of commands. */
  summary: string;
  /** What `--help` prints in addition to the options. */
  text?: string;
  words?: readonly Word[];
  /** The command's own options. Every command also has `--json` and `--help`. */
  options: Readonly<Record<string, Option>>;
  /** The environment variables that the command reads, each with a description. `--help` lists them. */
  reads: z.ZodObject;
  /** Whether `--json` prints one line of JSON for each step and one for the result. Other commands print a single document. */
  isLong?: boolean;
  /** Runs the command. Throws `UsageError`, `Failure`, or any other error whose message is a sentence for people. */
  run(given: Given, around: Surroundings): Promise<Result>;
}

/** The reason why a command has failed: a sentence for people and a code for programs. */
export class Failure extends Error {
  override name = 'Failure';
  readonly code: string;
  readonly exitCode: number;

  constructor(code: string, message: string, exitCode = 1) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** The command was called in a wrong way: exit code 2. */
export class UsageError extends Failure {
  override name = 'UsageError';

  constructor(message: string) {
    super('usage', message, 2);
  }
}

/** The error of a command whose platform is not running: exit code 3. */
export function notRunning(folder: string, advice = ''): Failure {
  return new Failure('not-running', `No Kith is running on the data folder ${folder}.${advice}`, 3);
}

/** The text of an option, or `undefined` if the option was not given. An option with `isNeeded` always has a text. */
export function textOf(given: Given, name: string): string | undefined {
  const value = given.options[name];
  return typeof value === 'string' ? value : undefined;
}
