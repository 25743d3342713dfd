import { runCommandLine } from './command-line.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), process);
// A start that has failed may have left something open.
if (process.exitCode !== 0) process.exit();
