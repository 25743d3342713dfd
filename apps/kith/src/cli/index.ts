export type { Command, Option, Word } from './command.ts';
export { runCommandLine } from './command-line.ts';
export { commands } from './commands/index.ts';
export { accessConfig } from './platform-access.ts';
