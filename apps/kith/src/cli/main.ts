import { runCommandLine } from './command-line.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), process);
// Ends the process, because a failed start may have left something open that would keep the process alive.
if (process.exitCode !== 0) process.exit();
