import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { aptInstall } from './install-docker.ts';
import { exclusively } from './lock.ts';
import { mayInstall } from './machine.ts';
import { cacheFolder, EnginesError, type Progress } from './step.ts';

/** A Chromium on this machine, as options for `launch` of playwright-core. */
export interface Chromium {
  executablePath: string;
  args: string[];
}

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
/** Folders that may hold browsers, even if the folders are not on the PATH. */
const folders = ['/usr/bin', '/usr/local/bin', '/snap/bin', '/opt/google/chrome'];
const applications = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * Finds Chromium for suites that need a browser. If CHROMIUM_PATH is set, looks only at this path. Otherwise looks at the usual
 * places. If Chromium is missing, installs the distribution's package, but only with CI=true, and only if this process is root
 * on Debian or Ubuntu.
 * @throws EnginesError If Chromium is missing and is not installed. The error says what to do.
 */
export async function provideChromium(
  options: { env?: NodeJS.ProcessEnv; progress?: Progress } = {},
): Promise<Chromium> {
  const { env = process.env, progress = () => {} } = options;
  if (env.CHROMIUM_PATH) {
    if (await isExecutable(env.CHROMIUM_PATH)) return withFlags(env.CHROMIUM_PATH);
    throw new EnginesError(`CHROMIUM_PATH names ${env.CHROMIUM_PATH}, which cannot be run`);
  }
  const found = (await find(env)) ?? (await install(env, progress));
  if (found) return withFlags(found);
  throw new EnginesError(
    'Chromium is not on this machine. Install it, set CHROMIUM_PATH, or run as root on Debian or Ubuntu with CI=true to have it installed',
  );
}

async function find(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const searched = [...(env.PATH ?? '').split(delimiter).filter(Boolean), ...folders];
  const paths = [...searched.flatMap((folder) => names.map((name) => join(folder, name))), ...applications];
  for (const path of paths) {
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function install(env: NodeJS.ProcessEnv, progress: Progress): Promise<string | undefined> {
  if (env.CI !== 'true' || !(await mayInstall())) return undefined;
  return exclusively(
    async () => {
      // Another process may have installed Chromium while this process waited for its turn.
      const found = await find(env);
      if (found) return found;
      // Without fonts a page shows only boxes.
      const packages = ['chromium', 'fonts-liberation'];
      await aptInstall(packages, { progress, log: join(cacheFolder(env), 'apt.log') });
      return find(env);
    },
    { progress },
  );
}

/** The options to run Chromium headless. They turn off all background requests, because a suite may watch a page's requests. */
function withFlags(executablePath: string): Chromium {
  return {
    executablePath,
    args: [
      '--headless=new',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Chromium refuses to run as root inside its sandbox.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  };
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
