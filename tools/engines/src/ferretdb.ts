import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.ts';
import { cacheFolder, type Progress, step } from './step.ts';

/** The Go package that serves the MongoDB protocol in the offline `mongo` image. */
export const ferretdbPackage = 'github.com/FerretDB/FerretDB/v2/cmd/ferretdb@v2.7.0';

const script = fileURLToPath(new URL('../images/ferretdb/compile.sh', import.meta.url));

/**
 * Compiles FerretDB, or takes an earlier compiled binary. Returns the path of the binary. With `onMachine`, uses only the
 * machine's own Go, and returns `undefined` if that Go is too old or missing. Without `onMachine`, uses the Go of a container.
 */
export async function compileFerretdb(options: {
  env: NodeJS.ProcessEnv;
  progress: Progress;
  log: string;
  base: string;
  onMachine?: boolean;
}): Promise<string | undefined> {
  const folder = join(cacheFolder(options.env), ferretdbPackage.replace(/^.*@/, 'ferretdb-'));
  const binary = join(folder, 'ferretdb');
  if (existsSync(binary)) return binary;
  if (options.onMachine && !(await goIsNewEnough())) return undefined;
  // The file gets its final name only when it is complete. Otherwise, the next run might use the unfinished file of an
  // interrupted run.
  const unfinished = `${folder}.new`;
  mkdirSync(unfinished, { recursive: true });
  const where = options.onMachine ? [] : ['--in-container'];
  await step('Compiling FerretDB', [script, unfinished, ...where], {
    progress: options.progress,
    // This step runs at the same time as other steps. It has a log of its own, so that its lines do not mix with the lines of
    // other steps.
    log: options.log.replace(/\.log$/, '.ferretdb.log'),
    env: { ...options.env, PACKAGE: ferretdbPackage, BASE: options.base },
  });
  renameSync(unfinished, folder);
  return binary;
}

async function goIsNewEnough(): Promise<boolean> {
  const { code, stdout } = await run('go', ['env', 'GOVERSION']);
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(stdout) ?? [];
  return code === 0 && (Number(major) > 1 || Number(minor) >= 24);
}
