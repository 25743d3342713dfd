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

/** Reads the first line of a text file that the user has named, without the line break. Throws `StartError`. */
export function readFirstLine(file: string): string {
  return readText(file).split(/\r?\n/, 1)[0] as string;
}
