import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder where Node keeps compiled code (NODE_COMPILE_CACHE). The compiled code halves the work of starting a service's
 * process. If Node cannot write to the folder, Node still works.
 */
export function compileCache(env: NodeJS.ProcessEnv = process.env): string {
  return env.NODE_COMPILE_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kith', 'compiled');
}
