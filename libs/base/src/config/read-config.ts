import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { StartError } from '../errors.ts';

/**
 * Parses a service's environment. An empty variable counts as absent, `NAME_FILE` gives `NAME` from a file
 * (secrets of containers). Throws `StartError` that names the variable, never its value.
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
): z.output<Schema> {
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = env[name] || readSecret(name, env[`${name}_FILE`]);
    if (value) values[name] = value;
  }
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new StartError(`${issue?.path.join('.')}: ${issue?.message}`);
}

function readSecret(name: string, file: string | undefined): string | undefined {
  if (!file) return undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new StartError(`${name}_FILE: ${file} cannot be read.`, { cause: error });
  }
}

/** A whole number of at least `min`, from a variable. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  return z
    .string()
    .regex(/^\d+$/, 'a whole number is needed')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `a whole number from ${min} to ${max} is needed`);
}

/** A switch: `true` or `false`. */
export const flag = z
  .enum(['true', 'false'], { error: 'true or false is needed' })
  .transform((value) => value === 'true');
