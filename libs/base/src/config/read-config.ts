import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { StartError } from '../errors.ts';

/**
 * Parses a service's environment. An empty variable counts as absent. `NAME_FILE` names a file that contains the value of
 * `NAME` (for container secrets). `KITH_SECRET_COMMAND` names a program that prints the value of `KITH_SECRET` (for a key
 * management service). Throws a `StartError` that names the variable, but never contains its value.
 *
 * @param defaults Values for variables that the environment does not set. They replace the schema's own defaults.
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
  defaults: Readonly<Record<string, string>> = {},
): z.output<Schema> {
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = readVariable(name, env) ?? defaults[name];
    if (value) values[name] = value;
  }
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new StartError(`${issue?.path.join('.')}: ${issue?.message}`);
}

/** Reads one variable as {@link readConfig} does. Returns `undefined` if it is absent or empty. */
export function readVariable(name: string, env: NodeJS.ProcessEnv): string | undefined {
  return env[name] || readSecret(name, env[`${name}_FILE`]) || runCommand(name, env) || undefined;
}

function readSecret(name: string, file: string | undefined): string | undefined {
  if (!file) return undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new StartError(`${name}_FILE: ${file} cannot be read.`, { cause: error });
  }
}

/** The variables whose value may come from a program. `<variable>_COMMAND` names the program. */
const commanded: readonly string[] = ['KITH_SECRET', 'KITH_SECRET_PREVIOUS'];
const commandMs = 30_000;

/** Runs a program without a shell and returns what it prints. */
function runCommand(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const command = commanded.includes(name) ? env[`${name}_COMMAND`] : undefined;
  if (!command) return undefined;
  const words = command.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  const [program = '', ...parameters] = words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  try {
    return execFileSync(program, parameters, {
      env,
      encoding: 'utf8',
      timeout: commandMs,
      maxBuffer: 64 * 1024,
      stdio: ['ignore', 'pipe', 'inherit'],
    }).trim();
  } catch (error) {
    // The error is not passed on as the `cause`. It contains the output of the program, and this output may be the secret.
    const { status, code } = error as { status?: number | null; code?: string };
    const why = code ?? (status === null || status === undefined ? 'a signal' : `exit code ${status}`);
    throw new StartError(`${name}_COMMAND: ${program} gave no secret (${why}).`);
  }
}

/** A variable that is a whole number of at least `min`. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  return z
    .string()
    .regex(/^\d+$/, 'a whole number is needed')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `a whole number from ${min} to ${max} is needed`);
}

/** A variable that is a switch: `true` or `false`. */
export const flag = z
  .enum(['true', 'false'], { error: 'true or false is needed' })
  .transform((value) => value === 'true');
