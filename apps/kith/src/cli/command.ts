import type { z } from 'zod';

/** What a command uses beside its words, and where it reports its progress. */
export interface Surroundings {
  /** Includes KITH_DATA, the absolute path of the data folder. */
  env: NodeJS.ProcessEnv;
  /** All commands, for help and completion. */
  commands: readonly Command[];
  /** Shows a line to people; with `--json` only long commands show it. */
  progress(line: string): void;
}

/** What was given on the command line. */
export interface Given {
  /** Words beside the options, after the command's own. */
  words: readonly string[];
  options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
}

/** An option, by its name in {@link Command.options}. */
export interface Option {
  /** What `--help` and completion say of it. */
  text: string;
  /** The placeholder of its value in `--help`; FILE and FOLDER are completed as such. An option without a placeholder is a switch. */
  value?: string;
  /** All values that it takes. */
  choices?: readonly string[];
  isNeeded?: boolean;
  /** Whether it may be given more than once. */
  multiple?: boolean;
}

/** A word that a command takes, and needs. */
export interface Word {
  /** As in {@link Option}. */
  value: string;
  /** Its name in refusals: "Name the project id." */
  what: string;
  choices?: readonly string[];
}

/** What a command reports when it has ended. */
export interface Result {
  /** Printed with `--json`. */
  value: object;
  /** Printed without `--json`. */
  text: string;
  /** Printed after the result: the command has done its work, but the exit code is not 0. */
  failure?: Failure | undefined;
}

/** One command: a file in `commands/`. Help, completion and the reading of words are made from it. */
export interface Command {
  /** The words it is called by. */
  name: string;
  /** A few words for the list of commands. */
  summary: string;
  /** What `--help` says beside the options. */
  text?: string;
  words?: readonly Word[];
  /** Besides `--json` and `--help`, which every command has. */
  options: Readonly<Record<string, Option>>;
  /** The environment variables that it reads, each with its description. `--help` lists them. */
  reads: z.ZodObject;
  /** Whether `--json` prints a line of JSON for each step and one for the result, instead of a single document. */
  isLong?: boolean;
  /** Runs the command. Throws `UsageError`, `Failure`, or any other error whose message is a sentence for people. */
  run(given: Given, around: Surroundings): Promise<Result>;
}

/** Why a command has failed: a sentence for people, a code for programs. */
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

/** The platform that the command is about does not run: exit code 3. */
export function notRunning(folder: string, advice = ''): Failure {
  return new Failure('not-running', `No Kith is running on the data folder ${folder}.${advice}`, 3);
}

/** The text of an option, if it was given. An option that the command needs always has one. */
export function textOf(given: Given, name: string): string | undefined {
  const value = given.options[name];
  return typeof value === 'string' ? value : undefined;
}
