import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dockerState } from './docker.ts';
import { startDockerd } from './dockerd.ts';
import { mayInstall } from './machine.ts';
import { run } from './run.ts';
import { cacheFolder, type Progress, type StepOptions, step } from './step.ts';

/** How long to wait for another package manager, in ms. */
const patienceMs = 300_000;

/** Installs packages of the distribution without asking questions. Needs root. */
export async function aptInstall(
  packages: readonly string[],
  { progress, log }: { progress: Progress; log: string },
): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // With this option, apt does not fail at once if another package manager is installing. Instead, apt waits up to 300 s for
  // the other package manager.
  const apt = ['apt-get', '-o', `DPkg::Lock::Timeout=${patienceMs / 1_000}`, '-y', '-q'] as const;
  await readLists([...apt, 'update'], { progress, log, env });
  const known: string[] = [];
  for (const name of packages) {
    if ((await run('apt-cache', ['show', name])).code === 0) known.push(name);
  }
  const install = [...apt, 'install', '--no-install-recommends', ...known] as const;
  await step(`Installing ${known.join(', ')}`, install, { progress, log, env });
}

/**
 * Reads the package lists. While another package manager reads them, apt fails at once, even with the option above. A new
 * machine often reads its package lists soon after its start.
 */
async function readLists(command: readonly [string, ...string[]], options: StepOptions): Promise<void> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await step('Reading the package lists', command, options);
    } catch (error) {
      const isTaken = /could not get lock|unable to lock/i.test((error as Error).message);
      if (!isTaken || performance.now() > until) throw error;
    }
    await sleep(2_000);
  }
}

/**
 * Makes Docker run on a machine where it does not answer. Installs `docker.io` if it is missing, and starts Docker. If this is not
 * allowed, returns the reason. If this fails, throws.
 */
export async function bringDocker(
  reason: string,
  options: {
    env: NodeJS.ProcessEnv;
    progress: Progress;
    confirm?: ((question: string) => Promise<boolean>) | undefined;
  },
): Promise<string | undefined> {
  const { env, progress, confirm } = options;
  // Another process may have installed Docker while this process waited for its turn.
  if ((await dockerState()).answers) return undefined;
  if (!(await mayInstall())) return reason;
  const missing =
    (await run('dockerd', ['--version'])).code !== 0 || (await run('docker', ['--version'])).code !== 0;
  const question = missing ? 'Install docker.io with apt-get, and start it?' : "Start Docker's engine?";
  const agreed = env.CI === 'true' || (await confirm?.(`${reason}. ${question}`));
  if (!agreed) return `${reason}, and installing or starting it was not allowed`;

  if (missing) {
    // From Debian 13 on, the client is a separate package.
    await aptInstall(['docker.io', 'docker-cli'], { progress, log: join(cacheFolder(env), 'apt.log') });
  }
  // If there is an init system, the installation has already started Docker.
  if (!(await dockerState()).answers) await startDockerd(progress);
  return undefined;
}
