import { readFileSync } from 'node:fs';
import { unreadable } from './file-error.ts';

/** Reads the text file that the user has named. Throws `StartError`. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  }
}

/** Reads the first line of a text file that the user has named, without the line break. Throws `StartError`. */
export function readFirstLine(file: string): string {
  return firstLineOf(readText(file));
}

/**
 * Reads the first line of the standard input, without the line break. Waits for the line, because a read of a non-blocking input
 * fails if nothing has arrived yet. Reads only up to the line break, so that Enter is enough at a terminal. Throws `StartError`.
 */
export async function readFirstInputLine(): Promise<string> {
  let text = '';
  try {
    // The end of this loop closes the input. An open input would keep the process alive.
    for await (const chunk of process.stdin.setEncoding('utf8')) {
      text += chunk;
      if (chunk.includes('\n')) break;
    }
  } catch (error) {
    throw unreadable('The standard input', error as NodeJS.ErrnoException);
  }
  return firstLineOf(text);
}

function firstLineOf(text: string): string {
  return text.split(/\r?\n/, 1)[0] as string;
}
