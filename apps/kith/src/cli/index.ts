export { runCommandLine } from './command-line.ts';
export { accessConfig } from './platform-access.ts';
