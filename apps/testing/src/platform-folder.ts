import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive, owner } from '@kith/engines';
import { onExit } from 'signal-exit';
import type { EngineKind } from './engine-kinds.ts';
import type { Engines } from './engines.ts';

const named = /^kith-platform-(embedded|containers)-(.+)-(\d+)-(t[0-9a-f]{12})$/;

/**
 * Makes a platform's folder in the system's temporary folder. The folder is removed when the returned object is disposed. With
 * `embedded`, it is also removed when this process ends.
 */
export async function makePlatformFolder(
  engine: EngineKind,
  prefix: string,
): Promise<{ path: string } & AsyncDisposable> {
  // The folder's name says which process owns the folder. So if that process is killed, a later start can find and remove the
  // folder.
  const path = join(tmpdir(), `kith-platform-${engine}-${owner.replace(':', '-')}-${prefix}`);
  await mkdir(path, { mode: 0o700 });
  // If the platform runs on real engines, the folder's name is also the only record of the platform's data on them. A process
  // that ends cannot erase this data any more, so the folder stays for the next start.
  const forget =
    engine === 'embedded' ? onExit(() => rmSync(path, { recursive: true, force: true })) : () => {};
  return {
    path,
    async [Symbol.asyncDispose]() {
      forget();
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** Notes in a platform's folder that the platform's data is on these engines. Their addresses may hold passwords. */
export async function noteEngines(path: string, engines: Addresses): Promise<void> {
  await writeFile(join(path, engineNote), noteOf(engines), { mode: 0o600 });
}

/** The file with the note. If a platform starts engines of its own, its folder has no note. */
const engineNote = 'engines';

type Addresses = Pick<Engines, 'mongodbUrl' | 'natsUrl' | 'redisUrl'>;

function noteOf({ mongodbUrl, natsUrl, redisUrl }: Addresses): string {
  return hash('sha256', JSON.stringify([mongodbUrl, natsUrl, redisUrl]));
}

/**
 * Removes the folders that ended processes have left. If a platform used real engines, its folder is removed only if `on` is
 * given, and if the folder does not note other engines. `on.erase` gets the prefix of the data that the platform has left on
 * the engines, and has to remove this data. The folders of other users of this machine are not removed.
 */
export async function removeLeftFolders(on?: {
  engines: Addresses;
  erase: (prefix: string) => Promise<void>;
}): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, engine, host, pid, prefix = ''] = named.exec(name) ?? [];
    if (!engine || isAlive(`${host}:${pid}`)) continue;
    if (engine === 'containers' && !on) continue;
    const path = join(tmpdir(), name);
    try {
      await access(path, constants.W_OK);
      if (engine === 'containers' && on) {
        const note = await readFile(join(path, engineNote), 'utf8').catch(() => undefined);
        if (note !== undefined && note !== noteOf(on.engines)) continue;
        await on.erase(prefix);
      }
      await rm(path, { recursive: true, force: true });
    } catch (error) {
      // The folder may belong to another user of this machine, or another start may have just removed it.
      if (!['EACCES', 'EPERM', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}
