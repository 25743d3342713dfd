import { createInterface } from 'node:readline/promises';
import { UsageError } from './command.ts';

/**
 * Asks at the terminal for a text, and returns whether this text was typed. If there is no terminal, throws `UsageError` with the
 * sentence `otherwise`.
 */
export async function isConfirmed(question: string, text: string, otherwise: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new UsageError(otherwise);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim() === text.trim();
  } finally {
    terminal.close();
  }
}
