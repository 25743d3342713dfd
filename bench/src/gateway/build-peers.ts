import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const peers = fileURLToPath(new URL('../../peers', import.meta.url));

/**
 * Installs the packages of the peers (the programs that Kith is compared with) if they are missing, and compiles the peers to
 * JavaScript. NestJS needs decorators, which Node does not strip. Returns a function that returns the path of a peer's script.
 */
export async function buildPeers(): Promise<(name: string) => string> {
  install();
  const source = join(peers, 'src');
  const names = readdirSync(source).filter((file) => file.endsWith('.ts'));
  await build({
    entryPoints: names.map((file) => join(source, file)),
    outdir: join(peers, 'dist'),
    format: 'esm',
    platform: 'node',
    target: 'node24',
    bundle: true,
    packages: 'external',
    outExtension: { '.js': '.mjs' },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    logLevel: 'warning',
  });
  return (name) => join(peers, 'dist', `${name}.mjs`);
}

function install(): void {
  const mark = join(peers, 'node_modules', '.kith-installed');
  const lock = createHash('sha256')
    .update(readFileSync(join(peers, 'package-lock.json')))
    .digest('hex');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return;
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', words, { cwd: peers, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error("The peers' packages could not be installed: npm says why above.");
  writeFileSync(mark, lock);
}
