#!/usr/bin/env node
// The command line, on any Node ≥ 20: the bootstrap finds the Node that runs it.
// Files are named from where the command was given, and the bootstrap works in the project's folder.
process.env.KITH_CWD ??= process.env.INIT_CWD ?? process.cwd();
process.argv.splice(2, 0, 'apps/kith/src/cli/main.ts');
await import('../../../tools/bootstrap.mjs');
