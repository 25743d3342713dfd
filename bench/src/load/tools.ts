import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptInstall, cacheFolder, EnginesError, mayInstall, step } from '@kith/platform/engines';

/** The generators of load: wrk for closed loops, vegeta for a constant rate. */
export interface LoadTools {
  wrk: string;
  /** Built at the first call, as only the open loop needs it. */
  vegeta(): Promise<string>;
}

/** The version of vegeta that is built where none is installed. */
const vegetaVersion = 'v12.13.0';

/**
 * Finds wrk and vegeta. wrk comes from the distribution (root on Debian or Ubuntu with CI=true), vegeta from the Go module
 * proxy with the machine's Go.
 * @throws EnginesError saying what to install where they can not be had.
 */
export async function provideTools(progress: (line: string) => void): Promise<LoadTools> {
  return { wrk: await provideWrk(progress), vegeta: () => provideVegeta(progress) };
}

async function provideWrk(progress: (line: string) => void): Promise<string> {
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

async function provideVegeta(progress: (line: string) => void): Promise<string> {
  const found = onPath('vegeta');
  if (found) return found;
  const folder = join(cacheFolder(), `vegeta-${vegetaVersion}`);
  const binary = join(folder, 'vegeta');
  if (existsSync(binary)) return binary;
  const go = onPath('go');
  if (!go) throw new EnginesError('vegeta is needed: install it, or Go 1.22 or newer to have it built');
  // A module of its own: `go install` of a version asks for the list of all versions, which not every proxy has.
  const source = join(folder, 'source');
  mkdirSync(source, { recursive: true });
  const module = 'github.com/tsenart/vegeta/v12';
  writeFileSync(join(source, 'go.mod'), `module bench\n\ngo 1.22\n\nrequire ${module} ${vegetaVersion}\n`);
  await step('Building vegeta', ['go', 'build', '-C', source, '-mod=mod', '-o', binary, module], {
    progress,
    log: join(cacheFolder(), 'vegeta.log'),
    env: process.env,
  });
  return binary;
}

function onPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
