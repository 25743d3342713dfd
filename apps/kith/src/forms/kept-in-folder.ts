import type { PlatformConfig } from './config.ts';

type Places = Pick<PlatformConfig, 'STORAGE_URL' | 'ERASURES_FILE'>;

/**
 * Returns settings with which a platform keeps the bytes of files and the list of erasures in its data folder, even if its
 * environment names other places. The argument is settings that were already read. It is not the environment, because an
 * environment may also name a file or a command from which a setting is read.
 */
export function keptInFolder<Config extends Places>(config: Config): Config {
  return { ...config, STORAGE_URL: undefined, ERASURES_FILE: undefined };
}
