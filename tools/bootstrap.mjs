// Runs a script of the project with Node 24, after installing what it needs. Plain JavaScript, because any
// Node ≥ 20 runs it: `node tools/bootstrap.mjs <script> [arguments]`.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Installs the packages of the lock file, unless exactly they are installed already. */
function install() {
  const mark = join(root, 'node_modules', '.kith-installed');
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  process.stderr.write('Installing packages (the first time only, about a minute) …\n');
  const npm = process.env.npm_execpath;
  // No package's own scripts: nothing here needs them, and they would run with the caller's rights.
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const result = npm
    ? spawnSync(process.execPath, [npm, ...words], { cwd: root, stdio: ['ignore', 2, 2] })
    : spawnSync('npm', words, { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (result.status !== 0) {
    process.stderr.write('Installing the packages failed; see the output of npm above.\n');
    process.exit(1);
  }
  writeFileSync(mark, wanted);
}

/** This Node when it is new enough, else the one that came with the packages. */
function findNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 24 || (major === 24 && minor >= 7)) return process.execPath;
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const node = join(root, 'node_modules', `node-${platform}-${process.arch}`, 'bin', file);
  if (existsSync(node)) return node;
  process.stderr.write(
    `Kith needs Node 24.7 or newer. This is ${process.version}, and npm has no Node package for ` +
      `${platform} ${process.arch}. Install Node 24 and start again.\n`,
  );
  process.exit(1);
}

install();
const [script = '', ...words] = process.argv.slice(2);
// As in apps/kith/src/forms/node-flags.ts, for the services that the embedded form runs in this process.
const flags = ['--min-semi-space-size=16'];
const child = spawn(findNode(), [...flags, join(root, script), ...words], {
  cwd: root,
  // Types are stripped and modules compiled once, not at every start.
  env: { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'kith-compiled'), ...process.env },
  // The channel tells the child when this process is gone, however it went.
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
});
// A terminal's Ctrl-C reaches the child by itself; what is sent to this process alone is handed on.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
// npm hands a signal to the shell that started this, which ends and hands nothing on.
const { ppid } = process;
if (process.env.npm_lifecycle_event) {
  setInterval(() => process.ppid !== ppid && child.kill('SIGTERM'), 250);
}
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
