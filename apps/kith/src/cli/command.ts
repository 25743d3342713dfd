import type { ParseArgsOptionsConfig } from 'node:util';
import type { z } from 'zod';

/** Where a command says what it has to say, and what it goes by. */
export interface Surroundings {
  env: NodeJS.ProcessEnv;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown; isTTY?: boolean };
}

/** What was given on the command line. */
export interface Given {
  /** Words beside the options, after the command's own. */
  words: readonly string[];
  options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
}

/** One command: a file in `commands/`. */
export interface Command {
  /** The words it is called by. */
  name: string;
  /** A few words for the list of commands. */
  summary: string;
  /** What `--help` says: the forms, the options, and what they mean. */
  help: string;
  options: ParseArgsOptionsConfig;
  /** What it reads of the environment; each variable describes itself. `--help` tells of them. */
  reads: z.ZodObject;
  /** Names of the words it takes, for refusals. */
  words?: readonly string[];
  /** Does it. Resolves to the exit code; throws `UsageError`, or any other error with its sentence. */
  run(given: Given, around: Surroundings): Promise<number>;
}

/** The command was called in a way it cannot be: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The text of an option that has to be given. */
export function needed(given: Given, name: string): string {
  const value = given.options[name];
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is needed.`);
  return value;
}

/** The text of an option that may be given. */
export function optional(given: Given, name: string): string | undefined {
  const value = given.options[name];
  return typeof value === 'string' ? value : undefined;
}
