// @ts-check
// Installs what a script of the project needs, and runs the script with Node 24. This file is plain JavaScript, because
// any Node ≥ 20 runs it: `node tools/bootstrap.mjs <script> [arguments]`.
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { helpOf } from './bootstrap/help.mjs';
import { installPackages } from './bootstrap/install.mjs';
import { findNode } from './bootstrap/node.mjs';
import { endAll, root, run } from './bootstrap/run.mjs';
import { partsFor } from './bootstrap/sizes.mjs';

const [script = '', ...words] = process.argv.slice(2);
// If nobody reads the output any more, as in `kith --help | head -1`, this process ends quietly, as if SIGPIPE had ended it.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code !== 'EPIPE') throw error;
    endAll();
    process.exit(128 + constants.signals.SIGPIPE);
  });
}
const help = helpOf(script, words);
// If packages are installed and the words name no command, the command line itself answers. It can name the command that was
// probably meant.
if (help && !(help.isOfAll && existsSync(join(root, 'node_modules')))) {
  if (help.isOfAll) process.stderr.write('kith: There is no such command.\n\n');
  process[help.isOfAll ? 'stderr' : 'stdout'].write(help.text);
  process.exitCode = help.isOfAll ? 2 : 0;
} else {
  process.exit(await start());
}

async function start() {
  // If somebody presses Ctrl-C in a terminal, the child also gets SIGINT. SIGTERM may reach only this process, so this process
  // passes SIGTERM on to the child. If no child is running, only `isAskedToEnd` records the signal.
  let isAskedToEnd = false;
  process.on('SIGINT', () => {
    isAskedToEnd = true;
  });
  process.on('SIGTERM', () => {
    isAskedToEnd = true;
    endAll();
  });
  // If npm gets a signal, it passes the signal on only to the shell that started this process. The shell ends and does not pass
  // the signal on. So this process ends its children when it gets another parent.
  const { ppid } = process;
  if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== ppid && endAll(), 250);
  const installing = [findNode(), installPackages(partsFor(script, words, process.env))];
  try {
    const [node = ''] = await Promise.all(installing);
    // A signal may have come while files were being moved. Node delivers such a signal only in the next turn of the event loop.
    // So this process waits for that turn.
    await new Promise((turn) => setImmediate(() => setImmediate(turn)));
    if (isAskedToEnd) return 1;
    // These are the flags of a service's process (apps/kith/src/forms/node-flags.ts). In the embedded form, the services run in
    // the process that is started here, so this process gets the same flags.
    const flags = ['--min-semi-space-size=16'];
    // Without the two dashes, Node would treat the `--env-file` of a command as its own option, and look for the file in the
    // project's folder.
    return await run(node, [...flags, '--', join(root, script), ...words], {
      cwd: root,
      // With this cache, Node strips types and compiles modules only once, and not at every start.
      env: { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'kith-compiled'), ...process.env },
      // `ipc` gives the child an IPC channel. The channel closes when this process ends, no matter how it ends. So the child
      // notices that this process has ended.
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    });
  } catch (error) {
    endAll();
    await Promise.allSettled(installing);
    process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
    return 1;
  }
}
