// @ts-check
// Runs a script of the project with Node 24, after installing what it needs. Plain JavaScript, because any
// Node ≥ 20 runs it: `node tools/bootstrap.mjs <script> [arguments]`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { helpOf } from './bootstrap/help.mjs';
import { installPackages } from './bootstrap/install.mjs';
import { findNode } from './bootstrap/node.mjs';
import { endAll, root, run } from './bootstrap/run.mjs';
import { partsFor } from './bootstrap/sizes.mjs';

const [script = '', ...words] = process.argv.slice(2);
const help = helpOf(script, words);
// If packages are installed, the command line itself says which command was probably meant.
if (help && !(help.isOfAll && existsSync(join(root, 'node_modules')))) {
  if (help.isOfAll) process.stderr.write('kith: There is no such command.\n\n');
  process[help.isOfAll ? 'stderr' : 'stdout'].write(help.text);
  process.exitCode = help.isOfAll ? 2 : 0;
} else {
  process.exit(await start());
}

async function start() {
  // A terminal's Ctrl-C reaches the child by itself. A signal that only this process gets is passed on.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', endAll);
  // npm sends a signal to the shell that started this process; the shell ends without passing it on.
  const { ppid } = process;
  if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== ppid && endAll(), 250);
  const installing = [findNode(), installPackages(partsFor(script, words, process.env))];
  try {
    const [node = ''] = await Promise.all(installing);
    // As in apps/kith/src/forms/node-flags.ts, for the services that the embedded form runs in this process.
    const flags = ['--min-semi-space-size=16'];
    return await run(node, [...flags, join(root, script), ...words], {
      cwd: root,
      // With this cache, types are stripped and modules compiled only once, not at every start.
      env: { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'kith-compiled'), ...process.env },
      // The channel tells the child when this process is gone, however it ended.
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    });
  } catch (error) {
    endAll();
    await Promise.allSettled(installing);
    process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
    return 1;
  }
}
