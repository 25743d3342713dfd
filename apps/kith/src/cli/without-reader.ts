import { constants } from 'node:os';

/** The exit code that a shell reports for a process that SIGPIPE has ended. Node ignores this signal. */
const brokenPipe = 128 + constants.signals.SIGPIPE;

/**
 * Ends this process quietly when nobody reads its output any more, as in `kith users list | head -1`. A platform goes on,
 * because its clients do not read its output.
 */
export function endWithoutReader(words: readonly string[]): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      if (words[0] !== 'start') process.exit(brokenPipe);
    });
  }
}
