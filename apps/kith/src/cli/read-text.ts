import { readFileSync } from 'node:fs';
import { unreadable } from './file-error.ts';

/** Reads the text file that the user has named. The name `-` means the standard input. Throws `StartError`. */
export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  }
}
