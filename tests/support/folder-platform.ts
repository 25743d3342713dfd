import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, readConfig } from '@kith/base';
import {
  type Call,
  caller,
  openDataFolder,
  platformConfig,
  startEmbedded,
  storingNames,
} from '@kith/platform';

export const operatorToken = 'operator-token-of-this-suite';
/** `KITH_SECRET` of the platforms on these folders. */
export const secret = 'the secret of the installations in these folders';

/** The files of an embedded installation. */
export const files = ['events', ...storingNames].map((name) => `${name}.sqlite`);

/** Starts an embedded platform on a folder. */
export async function startOn(folder: string): Promise<{ call: Call; stop(): Promise<void> }> {
  const config = readConfig(platformConfig, {
    NODE_ENV: 'test',
    PORT: '0',
    INTERNAL_PORT: '0',
    RATE_LIMIT_SCALE: '0',
    OPERATOR_TOKEN: operatorToken,
    KITH_SECRET: secret,
  });
  const log = createLogger({ name: 'kith', level: 'silent' });
  const opened = openDataFolder(folder);
  const platform = await startEmbedded({ config, folder: opened, log });
  return { call: caller(platform.url), stop: () => platform.stop() };
}

/** Makes folders inside a parent folder. Disposing the result erases the parent folder. */
export async function makeFolders() {
  const above = await mkdtemp(join(tmpdir(), 'kith-folders-'));
  let count = 0;
  const make = async () => {
    const path = join(above, String(++count));
    await mkdir(path, { mode: 0o700 });
    return path;
  };
  /** Makes a folder. Copies the files `ofOther` from the folder `other`, and the remaining files from the folder `one`. */
  const mix = async (one: string, other: string, ofOther: readonly string[]) => {
    const path = await make();
    for (const file of files) await cp(join(ofOther.includes(file) ? other : one, file), join(path, file));
    return path;
  };
  return { make, mix, [Symbol.asyncDispose]: () => rm(above, { recursive: true, force: true }) };
}
