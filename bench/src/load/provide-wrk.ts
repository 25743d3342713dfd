import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptInstall, cacheFolder, EnginesError, mayInstall } from '@kith/engines';

/**
 * Finds wrk, the program that sends the requests of every load. If wrk is missing, installs it from the distribution. It does
 * so only with CI=true, and only as root on Debian or Ubuntu.
 * @throws EnginesError if wrk is not available. The error names the package to install.
 */
export async function provideWrk(progress: (line: string) => void): Promise<string> {
  const found = onPath('wrk');
  if (found) return found;
  if (process.env.CI === 'true' && (await mayInstall())) {
    await aptInstall(['wrk'], { progress, log: join(cacheFolder(), 'apt.log') });
    const installed = onPath('wrk');
    if (installed) return installed;
  }
  throw new EnginesError(
    'wrk is needed: install it (Debian and Ubuntu: apt-get install wrk), or run as root with CI=true',
  );
}

function onPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
