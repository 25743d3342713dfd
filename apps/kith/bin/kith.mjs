#!/usr/bin/env node
// Starts the command line on any Node ≥ 20. The bootstrap then runs the command line with Node 24. If Node 24 is missing, the
// bootstrap installs Node 24 first.
import { sep } from 'node:path';

// Paths of files and of the data folder are relative to the folder where the command was typed. npm runs scripts in the
// project's folder, even if the command was typed in a subfolder. INIT_CWD names that subfolder.
const { INIT_CWD } = process.env;
process.env.KITH_CWD = INIT_CWD?.startsWith(process.cwd() + sep) ? INIT_CWD : process.cwd();
process.argv.splice(2, 0, 'apps/kith/src/cli/main.ts');
await import('../../../tools/bootstrap.mjs');
