#!/usr/bin/env node
// The command line, on any Node ≥ 20: the bootstrap finds the Node that runs it, in the project's folder.
import { sep } from 'node:path';

// Paths of files and of the data folder are relative to where the command was given, and not to the folder above it where npm runs
// scripts.
const { INIT_CWD } = process.env;
process.env.KITH_CWD = INIT_CWD?.startsWith(process.cwd() + sep) ? INIT_CWD : process.cwd();
process.argv.splice(2, 0, 'apps/kith/src/cli/main.ts');
await import('../../../tools/bootstrap.mjs');
