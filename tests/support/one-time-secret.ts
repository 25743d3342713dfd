import { writeFile } from 'node:fs/promises';
import { movedSecret } from './moved-installation.ts';

/**
 * Writes a program that prints `movedSecret` at its first run, and fails at every later run. A program that needs a one-time
 * token would behave in the same way. Returns the variables that name the program.
 */
export async function oneTimeSecret(program: string): Promise<NodeJS.ProcessEnv> {
  await writeFile(program, `#!/bin/sh\nmkdir "$0.used" && echo '${movedSecret}'\n`, { mode: 0o700 });
  return { KITH_SECRET: '', KITH_SECRET_COMMAND: program };
}
