import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder in which Node keeps what it has compiled (NODE_COMPILE_CACHE), with which a service's process starts for half
 * the work. Where it cannot be written, Node does without.
 */
export function compileCache(env: NodeJS.ProcessEnv = process.env): string {
  return env.NODE_COMPILE_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kith', 'compiled');
}
