import { writeFile } from 'node:fs/promises';
import { movedSecret } from './moved-installation.ts';

/**
 * Writes a program that prints the secret of an installation that is moved, but only at its first run, as with a token that can
 * be used one time. Returns the variables that name the program.
 */
export async function oneTimeSecret(program: string): Promise<NodeJS.ProcessEnv> {
  await writeFile(program, `#!/bin/sh\nmkdir "$0.used" && echo '${movedSecret}'\n`, { mode: 0o700 });
  return { KITH_SECRET: '', KITH_SECRET_COMMAND: program };
}
