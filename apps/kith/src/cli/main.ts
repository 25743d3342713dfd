import { runCommandLine } from './command-line.ts';
import { endWithoutReader } from './without-reader.ts';

const words = process.argv.slice(2);
endWithoutReader(words);
process.exitCode = await runCommandLine(words, process);
// Ends the process, because a failed start may have left something open that would keep the process alive.
if (process.exitCode !== 0) process.exit();
