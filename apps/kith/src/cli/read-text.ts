import { readFileSync } from 'node:fs';
import { unreadable } from './file-error.ts';

/** Reads a text file that was named; `-` is the standard input. Throws `StartError`. */
export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  }
}
