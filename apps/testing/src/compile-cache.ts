import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder in which Node keeps what it has compiled (NODE_COMPILE_CACHE). It halves the work of starting a service's process. If
 * it cannot be written to, Node does without.
 */
export function compileCache(env: NodeJS.ProcessEnv = process.env): string {
  return env.NODE_COMPILE_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kith', 'compiled');
}
