import { join } from 'node:path';
import { aptInstall } from './install-docker.ts';
import { exclusively } from './lock.ts';
import { mayInstall } from './machine.ts';
import { run } from './run.ts';
import { cacheFolder, type Progress } from './step.ts';

/** A command that runs Compose, with its arguments. The old and the new version of Compose have different commands. */
export type ComposeCommand = readonly [string, ...string[]];

/**
 * Finds `docker compose` (2.x) or `docker-compose` (1.29). If Compose is missing, installs the distribution's package, but only
 * with CI=true, and only if this process is root on Debian or Ubuntu. Returns `undefined` if Compose is still missing.
 */
export async function provideCompose(
  options: { env?: NodeJS.ProcessEnv; progress?: Progress } = {},
): Promise<ComposeCommand | undefined> {
  const { env = process.env, progress = () => {} } = options;
  const found = await findCompose();
  if (found || env.CI !== 'true' || !(await mayInstall())) return found;
  return exclusively(
    async () => {
      // Another process may have installed Compose while this process waited for its turn.
      const found = await findCompose();
      if (found) return found;
      await aptInstall(['docker-compose'], { progress, log: join(cacheFolder(env), 'apt.log') });
      return findCompose();
    },
    { progress },
  );
}

async function findCompose(): Promise<ComposeCommand | undefined> {
  if ((await run('docker', ['compose', 'version'])).code === 0) return ['docker', 'compose'];
  if ((await run('docker-compose', ['version'])).code === 0) return ['docker-compose'];
  return undefined;
}
