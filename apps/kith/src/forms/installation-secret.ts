import { existsSync } from 'node:fs';
import { StartError } from '@kith/base';
import { readManifest } from './backup-manifest.ts';
import type { PlatformConfig } from './config.ts';
import type { DataFolder } from './data-folder.ts';
import { keptSecret } from './kept-secret.ts';

export const secretFile = 'secret';
/** The file that the distributed form writes at its first start on a data folder. */
export const installationFile = 'installation.json';
/** The file that holds the previous secret while `kith secrets rotate` is under way. */
export const olderSecretFile = 'secret.previous';

/** The secrets that the environment gives. */
export type GivenSecrets = Pick<PlatformConfig, 'KITH_SECRET' | 'KITH_SECRET_PREVIOUS'>;
type Settings = GivenSecrets & Pick<PlatformConfig, 'NODE_ENV'>;
type Known = Required<GivenSecrets> & { KITH_SECRET: string };

/**
 * The settings of an installation, with its secret. The secret is KITH_SECRET. If KITH_SECRET is not set, the secret is in the
 * data folder, where the first start makes it. If KITH_SECRET is set and the folder also holds a secret, the folder's secret
 * can still open the data that it sealed. Throws `StartError` if the secret of existing data is missing. In production, also
 * throws `StartError` if KITH_SECRET is not set.
 */
export function withSecret<Config extends Settings>(folder: DataFolder, config: Config): Config & Known {
  if (!config.KITH_SECRET && config.NODE_ENV === 'production') {
    // In production the data folder must not hold the secret, because a copy of the folder would then hold both the secret and
    // the data that the secret seals.
    throw new StartError(
      `KITH_SECRET: a secret of at least 32 characters is needed in production. Keep it outside of the data folder, for example in a file that KITH_SECRET_FILE names. If ${folder.file(secretFile)} exists, use the secret in this file.`,
    );
  }
  const found = withFoundSecret(folder, config);
  return found ?? { ...config, KITH_SECRET: keptSecret(folder, secretFile, undefined) };
}

/** Like `withSecret` outside of production, but changes nothing. Returns `undefined` if a start would make the secret. */
export function withFoundSecret<Config extends GivenSecrets>(
  folder: DataFolder,
  config: Config,
): (Config & Known) | undefined {
  const kept = keptIn(folder);
  const current = config.KITH_SECRET ?? kept[0];
  if (current === undefined) {
    refuseMissing(folder);
    return undefined;
  }
  const others = [...config.KITH_SECRET_PREVIOUS, ...kept].filter((one) => one !== current);
  return { ...config, KITH_SECRET: current, KITH_SECRET_PREVIOUS: [...new Set(others)] };
}

/** Like `withSecret`, but for a command. Even in production, a command may take the secret from the data folder. */
export function withKnownSecret<Config extends Settings>(folder: DataFolder, config: Config): Config & Known {
  const NODE_ENV = config.NODE_ENV;
  return { ...withSecret(folder, { ...config, NODE_ENV: 'development' }), NODE_ENV };
}

function keptIn(folder: DataFolder): string[] {
  const kept = [secretFile, olderSecretFile].map((name) => folder.read(name)?.trim());
  return kept.filter((one) => one !== undefined && one !== '') as string[];
}

function refuseMissing(folder: DataFolder): void {
  if (existsSync(folder.file('identity.sqlite')) && !readManifest(folder)?.isAnonymised) {
    throw new StartError(
      `KITH_SECRET: the data in ${folder.path} was sealed under a secret that is missing. Set KITH_SECRET to the secret of the installation that the data comes from. If that installation made its secret itself, set KITH_SECRET_FILE to the file ${secretFile} in its data folder.`,
    );
  }
}
