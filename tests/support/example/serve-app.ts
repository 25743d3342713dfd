import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { preview } from 'vite';
import { type KithSettings, kithSettings } from '../../../examples/people/kith-settings.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../examples/people/', import.meta.url));

/** The example application, built as for production. */
export interface BuiltApp extends AsyncDisposable {
  /** Serves the application for a project, on a free port. Returns the address. */
  serve(settings: KithSettings): Promise<{ url: string } & AsyncDisposable>;
}

/** Builds the example application into a folder of its own. */
export async function buildApp(): Promise<BuiltApp> {
  const outDir = await mkdtemp(join(tmpdir(), 'kith-example-'));
  // Vite runs in a process of its own. In a suite's process, Vite would treat `NODE_ENV=test` as development.
  const vite = fileURLToPath(new URL('../../../node_modules/vite/bin/vite.js', import.meta.url));
  const words = ['build', '--outDir', outDir, '--emptyOutDir'];
  const env = { PATH: process.env.PATH, NODE_ENV: 'production' };
  await run(process.execPath, [vite, ...words], { cwd: root, env });
  return {
    async serve(settings) {
      const server = await preview({
        root,
        logLevel: 'warn',
        configFile: false,
        build: { outDir },
        // Passkeys need a host name, not an address.
        preview: { host: 'localhost', port: 0 },
        plugins: [kithSettings(settings)],
      });
      return {
        url: server.resolvedUrls?.local[0] ?? '',
        [Symbol.asyncDispose]: () => server.close(),
      };
    },
    [Symbol.asyncDispose]: () => rm(outDir, { recursive: true, force: true }),
  };
}
