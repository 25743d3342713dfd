// @ts-check
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/**
 * Runs a program until it ends, and returns its exit code.
 *
 * @param {string} command
 * @param {readonly string[]} words
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {Promise<number>}
 */
export function run(command, words, options) {
  return new Promise((resolve) => {
    const child = spawn(command, words, options);
    running.add(child);
    const done = (/** @type {number} */ code) => {
      running.delete(child);
      resolve(code);
    };
    child.on('exit', (code) => done(code ?? 1));
    child.on('error', (error) => {
      process.stderr.write(`${error.message}\n`);
      done(1);
    });
  });
}

/** Sends all running programs a signal to end. */
export function endAll() {
  for (const child of running) child.kill('SIGTERM');
}
