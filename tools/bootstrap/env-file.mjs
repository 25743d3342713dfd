// @ts-check
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const option = '--env-file';

/**
 * The environment of a command, together with the variables of the file that `--env-file` names. Only the names of these
 * variables matter here. If the file cannot be read, the command itself says so.
 *
 * @param {readonly string[]} words
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function withEnvFile(words, env) {
  const at = words.findIndex((word) => word === option || word.startsWith(`${option}=`));
  const file = words[at]?.slice(option.length + 1) || words[at + 1];
  if (at < 0 || file === undefined) return env;
  try {
    const text = readFileSync(resolve(env.KITH_CWD ?? '.', file), 'utf8');
    const lines = [...text.matchAll(/^\s*(?:export\s+)?(\w+)\s*=\s*(\S.*)$/gm)];
    return { ...env, ...Object.fromEntries(lines.map(([, name, value]) => [name, value])) };
  } catch {
    return env;
  }
}
