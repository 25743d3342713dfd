import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Replaces the bytes of a user's file in a folder by a pipe. A program that opens a pipe waits until somebody writes to it, so
 * copying the folder never ends. Returns the path of the pipe.
 */
export async function makeEndless(folder: string): Promise<string> {
  const paths = await readdir(folder, { recursive: true });
  const path = paths.find((one) => one.endsWith('original.bytes'));
  if (path === undefined) throw new Error(`There is no file in ${folder}.`);
  const pipe = join(folder, path);
  await rm(pipe);
  await promisify(execFile)('mkfifo', [pipe]);
  return pipe;
}
